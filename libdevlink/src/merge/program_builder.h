// SPDX-License-Identifier: Apache-2.0
//
// A program as it grows. What comes into being enters its names as nvlink does, so the order of
// these calls is the order of names, symbols and sections in the output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/hash_table.h"
#include "base/name_index.h"
#include "base/strings.h"
#include "model/module.h"
#include "model/program.h"

namespace devlink::internal {

// At most so many of each come from the inputs: there is room for them from the start, so that the
// lists do not move while they grow.
struct ExpectedSizes {
  std::size_t sections = 0;
  std::size_t functions = 0;
  std::size_t symbols = 0;
  std::size_t relocations = 0;
};

class ProgramBuilder {
 public:
  // `sm` and the view decide what every output begins with.
  ProgramBuilder(std::uint32_t sm, format::ViewKind view, bool weak_symbols_are_global,
                 const ExpectedSizes& expected = {});

  // Symbols from here on come from this input.
  void Begin(InputId input) { input_ = input; }

  SectionId AddSection(std::string_view name, SectionKind kind, std::uint32_t type,
                       std::uint32_t flags, std::uint32_t align);
  // The section that was added last comes behind those that are made of the call graph, and so do
  // its names.
  void PutLastSectionBehindCalls();
  SymbolId AddSectionSymbol(SectionId section);
  // A name of a section that nothing in the file bears.
  void AddPhantomName(std::string_view name);
  SymbolId AddSymbol(const InputSymbol& symbol, std::uint8_t type);
  FunctionId AddFunction(SymbolId symbol);
  // Another input may have had the symbol before; from here on it is this one's.
  void TakeOver(SymbolId symbol);
  // The same, and who had it before is forgotten: common variables do that.
  void StartOver(SymbolId symbol);
  // Who had it first. nvlink's messages name the input that mentioned a variable first, and the one
  // that defined a function first.
  [[nodiscard]] InputId FirstInput(SymbolId symbol) const;
  // Of a function's code, or of all the program where `text` is kNone.
  SectionId AddInfoSection(std::string_view name, SectionId text);
  // The list of relocations of `target`, which is made where there is none.
  SectionId RelocationSection(std::string_view name, SectionId target, std::uint32_t type);
  // The number by which records refer to it.
  std::uint32_t AddPrototype(std::string_view text);

  // Sections that inputs share by name.
  void Name(std::string_view name, SectionId section) { named_[name] = section; }
  [[nodiscard]] SectionId FindByName(std::string_view name) const;
  // kNone for local symbols.
  [[nodiscard]] SymbolId FindGlobal(const InputSymbol& symbol) const;

  // A name that no module has; lives as long as the program.
  std::string_view Concat(std::string_view head, std::string_view tail) {
    return names_->Concat(head, tail);
  }

  // Counts nvlink's sections and hands the program over.
  [[nodiscard]] Program Take() &&;

  Program program;
  const bool has_two_views;  // the inputs' files
  // The value of format::kReservedSharedEnd in machine code; the Mercury view says nothing of it.
  const std::uint32_t reserved_shared_end;
  std::uint32_t info_records = 0;  // of attribute sections so far
  bool force_rela = false;         // LinkOptions::force_rela
  bool allow_undefined = false;    // LinkOptions::allow_undefined_globals
  bool preserve_resolved = false;  // LinkOptions::preserve_relocations
  // nvlink finds lists of what was resolved by their names, so that functions of one name (`static`
  // ones of several files) have one list, which says that it is of the first.
  bool one_list_of_a_name = false;

 private:
  void Reserve(const ExpectedSizes& expected);
  // For the relocations of `target` that will have been resolved.
  void AddResolvedList(SectionId target);

  const bool weak_symbols_are_global_;
  base::HashSet<std::string_view> resolved_lists_;  // by name
  InputId input_ = 0;
  std::shared_ptr<base::StringArena> names_ = std::make_shared<base::StringArena>();
  base::NameMap<SymbolId> globals_;  // global and weak symbols
  base::NameMap<SectionId> named_;
  base::NameMap<std::uint32_t> prototypes_;      // their numbers
  base::HashMap<SymbolId, InputId> taken_over_;  // the first input of each such symbol
};

inline void AppendPiece(Section& section, base::Bytes bytes, std::uint64_t offset) {
  if (!bytes.empty()) section.pieces.push_back({bytes, offset});
}

}  // namespace devlink::internal
