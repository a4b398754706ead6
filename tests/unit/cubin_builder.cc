// SPDX-License-Identifier: Apache-2.0
#include "unit/cubin_builder.h"

#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <utility>

#include "devlink/experimental/cubin_writer.h"
#include "format/call_graph_records.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/notes.h"
#include "format/nv_info.h"
#include "format/sm_traits.h"

namespace devlink::testing {
namespace {

constexpr std::uint64_t kCodeSize = 256;

class Builder {
 public:
  explicit Builder(const CubinSpec& spec) : spec_(spec), writer_({.sm = spec.sm}) {}

  Cubin Build() {
    AddNotes();
    info_ = writer_.AddSection(
        {.name = ".nv.info", .type = format::kShtCudaInfo, .align = 4, .link = kSymbolTable});
    call_graph_ = writer_.AddSection({.name = ".nv.callgraph",
                                      .type = format::kShtCudaCallGraph,
                                      .align = 4,
                                      .entry_size = 8,
                                      .link = kSymbolTable});
    for (const FunctionSpec& f : spec_.functions) AddFunction(f);
    AddGlobal();
    BeginList(format::CallGraphList::kCalls);
    for (const FunctionSpec& f : spec_.functions) AddCalls(f);
    for (const auto list :
         {format::CallGraphList::kAddressesTaken, format::CallGraphList::kIndirectCallers,
          format::CallGraphList::kAddressTakers}) {
      BeginList(list);
    }
    auto bytes = writer_.Write();
    if (!bytes.ok()) throw std::logic_error(bytes.status().ToString());
    return *std::move(bytes);
  }

 private:
  // The writer borrows names and bytes until it has written.
  std::string_view Keep(std::string text) { return kept_.emplace_back(std::move(text)); }

  void AddNotes() {
    tool_note_ = format::EncodeToolRecord(
        {.object = "", .tool = "ptxas", .version = "test", .build = "test", .options = "-c"});
    SectionHandle tool = kNoSection;
    if (spec_.names_tool) {
      tool = writer_.AddSection({.name = ".note.nv.tkinfo",
                                 .type = format::kShtNote,
                                 .flags = format::kShfTkInfo,
                                 .align = 4});
      writer_.Append(tool, tool_note_);
    }
    const auto cuda = writer_.AddSection({.name = ".note.nv.cuinfo",
                                          .type = format::kShtNote,
                                          .flags = format::kShfCuInfo,
                                          .align = 4});
    if (tool != kNoSection) writer_.SetLinkSection(cuda, tool);
    for (const std::uint32_t word : {12U, 8U, format::kNoteCudaInfo}) {
      writer_.AppendWord(cuda, word);
    }
    static constexpr char kVendor[] = "NVIDIA Corp";  // with its NUL
    writer_.AppendCopy(cuda, {reinterpret_cast<const std::uint8_t*>(kVendor), sizeof(kVendor)});
    writer_.AppendWord(cuda, 2U | std::uint32_t{spec_.sm} << 16);
    writer_.AppendWord(cuda, spec_.toolkit);
  }

  void AddFunction(const FunctionSpec& f) {
    const auto text = writer_.AddSection({.name = Keep(".text." + f.name),
                                          .type = format::kShtProgbits,
                                          .flags = format::kShfAlloc | format::kShfExec,
                                          .align = 128,
                                          .link = kSymbolTable});
    writer_.AddSymbol({.type = format::kSttSection, .section = text});
    std::vector<std::uint8_t>& code = code_.emplace_back(kCodeSize, std::uint8_t{0x18});
    for (std::size_t i = 0; i < f.calls.size(); ++i) {
      constexpr std::uint32_t kCall = 0x7943;
      std::memcpy(code.data() + i * format::kInstructionSize, &kCall, sizeof(kCall));
    }
    writer_.Append(text, code);
    const auto symbol =
        writer_.AddSymbol({.name = f.name,
                           .binding = f.weak ? format::kStbWeak : format::kStbGlobal,
                           .type = format::kSttFunc,
                           .other = f.kernel ? format::kStoEntry : std::uint8_t{0},
                           .section = text,
                           .size = kCodeSize});
    const bool says_registers = format::TraitsOf(spec_.sm).has_registers_in_code;
    writer_.SetInfoSymbol(text, symbol,
                          static_cast<std::uint8_t>(says_registers ? f.registers : 0));
    symbols_[f.name] = symbol;
    texts_.emplace(f.name, text);
    for (const auto& [id, value] :
         {std::pair{format::kAttrRegCount, f.registers}, std::pair{format::kAttrFrameSize, f.frame},
          std::pair{format::kAttrMaxStackSize, f.frame}}) {
      writer_.AddAttribute(info_, format::kInfoSized, id, 8);
      writer_.AppendSymbolIndex(info_, symbol);
      writer_.AppendWord(info_, value);
    }
    const auto own_info = writer_.AddSection({.name = Keep(".nv.info." + f.name),
                                              .type = format::kShtCudaInfo,
                                              .flags = format::kShfInfoLink,
                                              .align = 4,
                                              .link = kSymbolTable});
    writer_.SetInfoSection(own_info, text);
    writer_.AddAttribute(own_info, format::kInfoHalfValue, format::kAttrSparseMmaMask, 0);
    if (!f.kernel) return;
    writer_.AddAttribute(own_info, format::kInfoHalfValue, format::kAttrMaxRegCount, 255);
    const auto constants = writer_.AddSection({.name = Keep(".nv.constant0." + f.name),
                                               .type = format::kShtCudaConstant0,
                                               .flags = format::kShfAlloc | format::kShfInfoLink,
                                               .align = 4});
    writer_.AddSymbol({.type = format::kSttSection, .section = constants});
    writer_.SetInfoSection(constants, text);
    writer_.AppendZeros(constants, spec_.sm >= 90 ? 0x210 : 0x160);
    if (f.static_shared == 0) return;
    const auto shared =
        writer_.AddSection({.name = Keep(".nv.shared." + f.name),
                            .type = format::kShtCudaShared,
                            .flags = format::kShfWrite | format::kShfAlloc | format::kShfInfoLink,
                            .align = 16,
                            .nobits_size = f.static_shared});
    writer_.SetInfoSection(shared, text);
  }

  void AddGlobal() {
    if (spec_.global_bytes == 0) return;
    const auto section = writer_.AddSection({.name = ".nv.global.init",
                                             .type = format::kShtCudaGlobalInit,
                                             .flags = format::kShfWrite | format::kShfAlloc,
                                             .align = 8});
    code_.emplace_back(spec_.global_bytes, std::uint8_t{0x5a});
    writer_.Append(section, code_.back());
    writer_.AddSymbol({.name = spec_.global_name,
                       .binding = format::kStbGlobal,
                       .type = format::kSttObject,
                       .other = format::kStoGlobal,
                       .section = section,
                       .size = spec_.global_bytes});
  }

  void BeginList(format::CallGraphList list) {
    writer_.AppendWord(call_graph_, 0);
    writer_.AppendWord(call_graph_, format::CallGraphMarker(list));
  }

  SymbolHandle SymbolOf(const std::string& name) {
    const auto known = symbols_.find(name);
    if (known != symbols_.end()) return known->second;
    const auto symbol = writer_.AddSymbol(
        {.name = Keep(name), .binding = format::kStbGlobal, .type = format::kSttFunc});
    return symbols_[name] = symbol;
  }

  void AddCalls(const FunctionSpec& f) {
    if (f.calls.empty()) return;
    const auto list = writer_.AddSection({.name = Keep(".rel.text." + f.name),
                                          .type = format::kShtRel,
                                          .flags = format::kShfInfoLink,
                                          .align = 8,
                                          .entry_size = format::kRelSize,
                                          .link = kSymbolTable});
    writer_.SetInfoSection(list, texts_.at(f.name));
    std::uint64_t offset = 0;
    for (const std::string& callee : f.calls) {
      const SymbolHandle symbol = SymbolOf(callee);
      constexpr std::uint32_t kAbs47 = 0x3a;
      writer_.AddRelocation(list, offset, kAbs47, symbol, 0);
      offset += format::kInstructionSize;
      writer_.AppendSymbolIndex(call_graph_, symbols_.at(f.name));
      writer_.AppendSymbolIndex(call_graph_, symbol);
    }
  }

  const CubinSpec& spec_;
  CubinWriter writer_;
  std::deque<std::string> kept_;
  std::deque<std::vector<std::uint8_t>> code_;
  std::vector<std::uint8_t> tool_note_;
  std::map<std::string, SymbolHandle> symbols_;
  std::map<std::string, SectionHandle> texts_;
  SectionHandle info_ = kNoSection;
  SectionHandle call_graph_ = kNoSection;
};

}  // namespace

Cubin BuildCubin(const CubinSpec& spec) { return Builder(spec).Build(); }

}  // namespace devlink::testing
