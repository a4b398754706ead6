// SPDX-License-Identifier: Apache-2.0
#include "model/function_check.h"

#include "absl/container/inlined_vector.h"
#include "base/bounded_reader.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/sections.h"
#include "model/code_places.h"

namespace devlink::internal {

namespace {

// What a view can say of a function, each once. Found so in 180,402 functions
// (docs/cubin-format.md, "Section order").
enum Statement : std::uint8_t {
  kCode = 1,
  kAttributes = 2,
  kParameters = 4,
  kFrame = 8,
  kStack = 16,
  kRegisters = 32,
};
constexpr unsigned kOfAll = kCode | kAttributes | kFrame | kStack | kRegisters;

constexpr unsigned kOfPart = kFrame | kStack;

class FunctionCheck {
 public:
  FunctionCheck(const ModuleView& view, std::span<const InputSection> sections,
                const format::SmTraits& traits)
      : view_(view), sections_(sections), traits_(traits), stated_(view.symbol_count()) {}

  WrongSymbol Wrong() {
    for (const InputSection& section : sections_) Take(section);
    if (!wrong_.what.empty()) return wrong_;
    for (std::uint32_t i = 0; i < stated_.size(); ++i) {
      if (stated_[i] != 0) Judge(i);
    }
    return wrong_;
  }

 private:
  void Take(const InputSection& section) {
    switch (section.role) {
      case SectionRole::kText:
        return State(FunctionOf(view_, section), kCode);
      case SectionRole::kModuleInfo:
        return TakeRecords(section);
      case SectionRole::kFunctionInfo:
        return State(FunctionOf(view_, sections_[section.info]), kAttributes);
      case SectionRole::kFunctionConstants:
        if (!section.IsParameterBank()) return;
        return State(FunctionOf(view_, sections_[section.info]), kParameters);
      default:
        return;
    }
  }

  void TakeRecords(const InputSection& section) {
    format::InfoReader records(section.data);
    format::InfoRecord record;
    while (records.Next(record)) {
      Statement statement{};
      switch (record.id) {
        case format::kAttrFrameSize:
          statement = kFrame;
          break;
        case format::kAttrMaxStackSize:
          statement = kStack;
          break;
        case format::kAttrRegCount:
          statement = kRegisters;
          break;
        default:
          continue;
      }
      const base::BoundedReader words(record.payload);
      const auto symbol = words.ReadOrZero<std::uint32_t>(0);
      State(symbol, statement);
      if (statement == kRegisters && !HasRegisters(symbol, words.ReadOrZero<std::uint32_t>(4))) {
        wrong_ = {symbol, "its code says another number of registers"};
      }
    }
  }

  // Machine code for some architectures says it, too.
  [[nodiscard]] bool HasRegisters(std::uint32_t symbol, std::uint32_t registers) const {
    if (view_.kind() != format::ViewKind::kSass) return true;
    const std::uint32_t section = view_.SymbolSectionAt(symbol);
    if (section >= sections_.size() || sections_[section].role != SectionRole::kText) return true;
    return format::RegistersOfCode(sections_[section].info) ==
           (traits_.has_registers_in_code ? registers : 0);
  }

  void State(std::uint32_t symbol, Statement statement) {
    std::uint8_t& stated = stated_[symbol];
    if ((stated & statement) != 0) wrong_ = {symbol, "the same is said of it twice"};
    stated = static_cast<std::uint8_t>(stated | statement);
  }

  void Judge(std::uint32_t symbol) {
    if (IsPartOfCode(view_, sections_, symbol, view_.SymbolAt(symbol))) {
      if (stated_[symbol] != kOfPart) wrong_ = {symbol, "its frame and its stack are not stated"};
      return;
    }
    if ((stated_[symbol] & kCode) == 0) {
      wrong_ = {symbol, "it has registers, a stack or parameters and no code"};
    } else if ((stated_[symbol] & kOfAll) != kOfAll) {
      wrong_ = {symbol, "its attributes, registers or stack are not stated"};
    } else if (view_.kind() == format::ViewKind::kSass && (stated_[symbol] & kParameters) == 0 &&
               (view_.SymbolTraitsAt(symbol).other & format::kStoEntry) != 0) {
      wrong_ = {symbol, "it is a kernel without room for parameters"};
    }
  }

  const ModuleView& view_;
  std::span<const InputSection> sections_;
  const format::SmTraits& traits_;
  absl::InlinedVector<std::uint8_t, 64> stated_;  // by symbol
  WrongSymbol wrong_;
};

}  // namespace

WrongSymbol WrongInFunctions(const ModuleView& view, std::span<const InputSection> sections,
                             const format::SmTraits& traits) {
  return FunctionCheck(view, sections, traits).Wrong();
}

}  // namespace devlink::internal
