// SPDX-License-Identifier: Apache-2.0
//
// Inputs of a link, put together piece by piece for tests of the merge and of what follows it. Only
// what a test names is there; no code in them runs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink/experimental/cubin_writer.h"
#include "devlink/module.h"
#include "format/call_graph_records.h"
#include "format/elf_cuda.h"

namespace devlink::testing {

class InputBuilder {
 public:
  explicit InputBuilder(std::uint16_t sm = 80) : sm_(sm), writer_({.sm = sm}) {}
  InputBuilder(const InputBuilder&) = delete;
  InputBuilder& operator=(const InputBuilder&) = delete;

  // From here on functions are aligned as assemblers align them, and get whatever assemblers state
  // of each that a test does not give.
  void AsAssembled() { as_assembled_ = true; }

  struct Function {
    std::string name;
    std::uint8_t binding = format::kStbGlobal;
    bool kernel = false;
    std::uint32_t registers = 8;
    std::uint8_t fill = 0x11;      // its 16 bytes of code
    std::uint64_t more_flags = 0;  // of its section
  };
  // `.text.NAME` with its symbols, and its register count in `.nv.info`.
  SymbolHandle Define(const Function& function);
  SymbolHandle DefineKernel(const std::string& name) {
    return Define(Function{.name = name, .kernel = true});
  }
  SymbolHandle DefineAlias(const std::string& name, SymbolHandle of);
  SymbolHandle Declare(const std::string& name, std::uint8_t binding = format::kStbGlobal,
                       std::uint8_t other = 0);

  // A data section of `size` bytes, its kind told by its name: `.nv.global`, `.nv.global.init`,
  // `.nv.constant3`, `.nv_debug.shared`, `.nv.shared.reserved.0`, and with an owner
  // `.nv.constantN.F` and `.nv.shared.F`; any other holds debug records.
  SectionHandle AddData(const std::string& name, std::uint64_t size, SymbolHandle owner = kNoSymbol,
                        std::uint8_t fill = 0x22, std::uint64_t align = 4);
  struct Variable {
    std::string name;
    SectionHandle section = kNoSection;  // kNoSection: undefined
    std::uint8_t space = format::kStoGlobal;
    std::uint8_t binding = format::kStbGlobal;
    std::uint64_t size = 4;
    std::uint64_t value = 0;  // shared memory: its alignment
    std::uint8_t other = 0;
    bool common = false;  // `.common`; the value is its alignment
    std::uint8_t type = format::kSttObject;
  };
  SymbolHandle Define(const Variable& variable);

  // The compiler's constants of a function, `.nv.constant2.F`, and the local variable in them.
  // Constants from here on lack the flag of sections that belong to another, as those of CUDA 12.2
  // and earlier do.
  void LeaveConstantsUnflagged() { flags_constants_ = false; }
  SymbolHandle AddConstants(SymbolHandle function, std::uint64_t size, std::uint8_t fill = 0x22,
                            std::uint64_t align = 4);

  // Pairs of `.nv.callgraph`.
  void AddCall(SymbolHandle caller, SymbolHandle callee) {
    pairs_.push_back({format::CallGraphList::kCalls, caller, callee, {}});
  }
  void AddAddressTaker(SymbolHandle taker, SymbolHandle function) {
    pairs_.push_back({format::CallGraphList::kAddressTakers, taker, function, {}});
  }
  void TakeAddress(SymbolHandle function, const std::string& prototype) {
    pairs_.push_back({format::CallGraphList::kAddressesTaken, function, kNoSymbol, prototype});
  }
  void CallIndirectly(SymbolHandle caller, const std::string& prototype) {
    pairs_.push_back({format::CallGraphList::kIndirectCallers, caller, kNoSymbol, prototype});
  }
  // A pair of `.nv.prototype`.
  void StatePrototype(SymbolHandle function, const std::string& prototype) {
    pairs_.push_back({format::CallGraphList::kNone, function, kNoSymbol, prototype});
  }

  // Records. Those of one function stand in its `.nv.info.F`.
  void AddModuleRecord(std::uint8_t id, SymbolHandle symbol, std::uint32_t value);
  void AddRecord(SymbolHandle function, std::uint8_t format, std::uint8_t id, std::uint16_t value);
  // A list with one word.
  void AddWord(SymbolHandle function, std::uint8_t id, std::uint32_t word);
  void AddExterns(SymbolHandle function, const std::vector<SymbolHandle>& symbols);
  void AddCompat(std::uint8_t format, std::uint8_t id, std::uint16_t value);

  // An addend makes it one of `.rela.X`.
  void Relocate(SectionHandle section, std::uint64_t offset, std::uint32_t type,
                SymbolHandle symbol, std::optional<std::int64_t> addend = std::nullopt);

  [[nodiscard]] SectionHandle TextOf(SymbolHandle function) const { return texts_.at(function); }
  [[nodiscard]] SymbolHandle SectionSymbolOf(SectionHandle section) const {
    return section_symbols_.at(section);
  }

  // Once. Throws where the reader refuses it.
  ModuleRef Build();

 private:
  struct Pair {
    format::CallGraphList list;
    SymbolHandle first;
    SymbolHandle second;
    std::string prototype;
  };

  std::string_view Keep(std::string text) { return kept_.emplace_back(std::move(text)); }
  SectionHandle ModuleInfo();
  SectionHandle InfoOf(SymbolHandle function);
  std::uint32_t PrototypeAt(const std::string& text);
  void AddPairs(std::string_view section, std::uint32_t type, bool prototypes);
  void AddNote();
  void Complete();

  std::uint16_t sm_;
  CubinWriter writer_;
  std::deque<std::string> kept_;
  std::deque<std::vector<std::uint8_t>> bytes_;
  std::map<SymbolHandle, SectionHandle> texts_;
  std::map<SymbolHandle, std::string> names_;
  std::map<SectionHandle, std::string> section_names_;
  std::map<SectionHandle, SymbolHandle> section_symbols_;
  std::map<SymbolHandle, SectionHandle> infos_;
  std::map<std::string, SectionHandle> lists_;
  std::vector<SymbolHandle> kernels_;
  std::vector<std::string> commons_;
  std::vector<Pair> pairs_;
  std::string prototypes_;
  SectionHandle info_ = kNoSection;
  SectionHandle compat_ = kNoSection;
  bool flags_constants_ = true;
  bool as_assembled_ = false;
};

}  // namespace devlink::testing
