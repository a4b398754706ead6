// SPDX-License-Identifier: Apache-2.0
#include "merge/merge.h"

#include <string>
#include <utility>

#include "base/demangle.h"
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/nvlink_text.h"
#include "format/sections.h"
#include "format/sm_traits.h"
#include "merge/compact.h"
#include "merge/merger.h"

namespace devlink::internal {

namespace section_name = format::section_name;

absl::StatusOr<Program> Merge(std::span<const LinkInput> inputs, const MergeOptions& options,
                              std::vector<Diagnostic>& diagnostics) {
  return Merger(options, inputs, diagnostics).Run();
}

Merger::Merger(const MergeOptions& options, std::span<const LinkInput> inputs,
               std::vector<Diagnostic>& diagnostics)
    : options_(options), inputs_(inputs), diagnostics_(diagnostics), compat_(options.profile) {
  program_.view = options.view;
  // What every output has, in the order in which nvlink enters the names.
  for (std::string_view name : {section_name::kNames, section_name::kStrings,
                                section_name::kSymbols, section_name::kWideIndices}) {
    program_.section_names.push_back({.text = name});
    program_.symbol_names.push_back({.text = name});
  }
  program_.tool_note = AddSection(section_name::kToolNote, SectionKind::kToolNote, format::kShtNote,
                                  format::kShfTkInfo, 4);
  program_.cuda_note = AddSection(section_name::kCudaNote, SectionKind::kCudaNote, format::kShtNote,
                                  format::kShfCuInfo, 4);
  AddSectionSymbol(program_.tool_note);
  AddSectionSymbol(program_.cuda_note);
  program_.module_info = AddInfoSection(section_name::kModuleInfo, kNone);
  if (format::TraitsOf(options.sm).has_compat) {
    program_.compat =
        AddSection(section_name::kCompat, SectionKind::kCompat, format::kShtCudaCompat, 0, 4);
  }
}

absl::StatusOr<Program> Merger::Run() {
  for (InputId input = 0; input < inputs_.size(); ++input) {
    MergeInput(input);
    if (failure_.ok()) continue;
    // All that is wrong with one input is reported; later inputs are not looked at.
    diagnostics_.push_back({.code = DiagnosticCode::kMergeFailed,
                            .severity = Severity::kFatal,
                            .text = std::string(format::nvlink_text::kMergeFailed),
                            .symbol = "",
                            .input = inputs_[input].name,
                            .notes = {}});
    return failure_;
  }
  AllocateCommons();
  if (program_.compat != kNone) {
    program_.compat_bytes = compat_.Finish(options_.architecture_specific);
  }
  if (inputs_.empty()) DescribeTarget();
  if (options_.kernels.LeavesOut() && options_.profile.constants_move_null_symbol) {
    program_.residue.last_packed_constant = packing_.last();
  }
  CountSections();
  Compact(replaced_, options_.relocatable, program_);
  program_.names = std::move(names_);
  return std::move(program_);
}

void Merger::MergeInput(InputId input) {
  input_ = input;
  view_ = &inputs_[input].module->view(options_.view);
  PrepareInput();
  MergeFunctions();
  MergeObjects();
  MergeOtherSections();
}

void Merger::PrepareInput() {
  sections_ = view_->sections();
  symbol_map_.assign(view_->symbol_count(), kNone);
  discarded_.assign(view_->symbol_count(), false);
  duplicate_.assign(view_->symbol_count(), false);
  discarded_init_.clear();
  taken_by_function_.assign(view_->symbol_count(), false);
  taken_of_discarded_.clear();
  sized_functions_.clear();
  constants_end_.assign(sections_.size(), 0);
  registers_.assign(view_->symbol_count(), 0);
  section_map_.assign(sections_.size(), Mapping());
  surviving_.assign(sections_.size(), kNone);
  shared_of_.assign(sections_.size(), 0);
  parameters_of_.assign(sections_.size(), 0);
  for (std::uint32_t i = 0; i < sections_.size(); ++i) {
    const InputSection& section = sections_[i];
    if (section.role == SectionRole::kEntryShared) shared_of_[section.info] = i;
    if (section.IsParameterBank()) parameters_of_[section.info] = i;
    if (section.role != SectionRole::kModuleInfo) continue;
    format::InfoReader records(section.data);
    format::InfoRecord record;
    while (records.Next(record)) {
      if (record.format != format::kInfoSized || record.id != format::kAttrRegCount) continue;
      const base::BoundedReader payload(record.payload);
      registers_[payload.ReadOrZero<std::uint32_t>(0)] = payload.ReadOrZero<std::uint32_t>(4);
    }
  }
}

void Merger::CountSections() {
  program_.residue.internal_sections = kNvlinkOwnSections;
  for (const Section& section : program_.sections) {
    program_.residue.internal_sections += SectionsCountedFor(section);
  }
}

SectionId Merger::AddSection(std::string_view name, SectionKind kind, std::uint32_t type,
                             std::uint32_t flags, std::uint32_t align) {
  const auto id = static_cast<SectionId>(program_.sections.size());
  Section& section = program_.sections.emplace_back();
  section.name = name;
  section.kind = kind;
  section.type = type;
  section.flags = flags;
  section.align = align;
  program_.section_names.push_back({.text = name, .section = id});
  program_.symbol_names.push_back({.text = name, .section = id});
  return id;
}

SymbolId Merger::AddSectionSymbol(SectionId section) {
  const auto id = static_cast<SymbolId>(program_.symbols.size());
  Symbol& symbol = program_.symbols.emplace_back();
  symbol.name = program_.sections[section].name;
  symbol.type = format::kSttSection;
  symbol.section = section;
  symbol.input = input_;
  program_.sections[section].symbol = id;
  return id;
}

SymbolId Merger::AddSymbol(const InputSymbol& symbol, std::uint8_t type) {
  const auto id = static_cast<SymbolId>(program_.symbols.size());
  Symbol& out = program_.symbols.emplace_back();
  out.name = symbol.name;
  out.binding = symbol.binding;
  out.type = type;
  out.size = symbol.size;
  out.other = symbol.other & static_cast<std::uint8_t>(~format::kStoSpaceMask);
  out.space = symbol.other & format::kStoSpaceMask;
  out.input = input_;
  // The part of the symbol table follows the binding that the symbol has when it comes into being.
  out.global_part =
      symbol.binding == format::kStbGlobal ||
      (options_.profile.weak_symbols_are_global && symbol.binding == format::kStbWeak);
  if (symbol.binding != format::kStbLocal) globals_[symbol.name] = id;
  return id;
}

FunctionId Merger::AddFunction(SymbolId symbol) {
  const auto id = static_cast<FunctionId>(program_.functions.size());
  program_.functions.emplace_back().symbol = symbol;
  program_.symbols[symbol].function = id;
  return id;
}

SectionId Merger::AddInfoSection(std::string_view name, SectionId text) {
  const bool module = text == kNone;
  const SectionId id =
      AddSection(name, module ? SectionKind::kModuleInfo : SectionKind::kFunctionInfo,
                 format::kShtCudaInfo, module ? 0 : format::kShfInfoLink, 4);
  Section& section = program_.sections[id];
  section.owner = text;
  section.function = module ? kNone : program_.sections[text].function;
  section.info_list = static_cast<std::uint32_t>(program_.info_lists.size());
  program_.info_lists.emplace_back();
  program_.info_sections.push_back(id);
  return id;
}

SectionId Merger::RelocationSection(std::string_view name, SectionId target, std::uint32_t type) {
  const bool with_addend = type == format::kShtRela;
  const SectionId known =
      with_addend ? program_.sections[target].rela : program_.sections[target].rel;
  if (known != kNone) return known;
  const SectionId id = AddSection(name, SectionKind::kRelocations, type, format::kShfInfoLink, 8);
  program_.sections[id].owner = target;
  program_.sections[id].function = program_.sections[target].function;
  (with_addend ? program_.sections[target].rela : program_.sections[target].rel) = id;
  return id;
}

std::uint32_t Merger::AddPrototype(std::string_view text) {
  const auto [known, inserted] = prototypes_.try_emplace(text, 0);
  if (inserted) {
    known->second = static_cast<std::uint32_t>(program_.prototypes.size()) + 1;
    program_.prototypes.append(text).push_back('\0');
  }
  return known->second;
}

SectionId Merger::FindByName(std::string_view name) const {
  const auto found = named_.find(name);
  return found == named_.end() ? kNone : found->second;
}

SymbolId Merger::FindGlobal(const InputSymbol& symbol) const {
  if (symbol.binding == format::kStbLocal) return kNone;
  const auto found = globals_.find(symbol.name);
  return found == globals_.end() ? kNone : found->second;
}

void Merger::AppendPiece(Section& section, base::Bytes bytes, std::uint64_t offset) {
  if (!bytes.empty()) section.pieces.push_back({bytes, offset});
}

void Merger::Report(DiagnosticCode code, std::string_view what, SymbolId first) {
  const Symbol& symbol = program_.symbols[first];
  using format::nvlink_text::FirstWas;
  const bool defined =
      code == DiagnosticCode::kMultipleDefinition || code == DiagnosticCode::kPrototypeMismatch;
  ReportText(code,
             format::nvlink_text::Disagreement(what, symbol.name, CurrentName(),
                                               defined ? FirstWas::kDefined : FirstWas::kSpecified,
                                               inputs_[symbol.input].name),
             first);
}

void Merger::ReportText(DiagnosticCode code, std::string text, SymbolId symbol) {
  const std::string name(program_.symbols[symbol].name);
  std::vector<std::string> notes;
  const std::string readable = base::Demangle(name);
  if (readable != name) notes.push_back(base::Cat({"'", name, "' is ", readable}));
  if (failure_.ok()) {
    const absl::string_view message = base::ToAbsl(text);
    failure_ = code == DiagnosticCode::kMultipleDefinition ? absl::AlreadyExistsError(message)
                                                           : absl::FailedPreconditionError(message);
  }
  diagnostics_.push_back({.code = code,
                          .severity = Severity::kError,
                          .text = std::move(text),
                          .symbol = name,
                          .input = CurrentName(),
                          .notes = std::move(notes)});
}

// Two inputs must agree on how a function is called.
void Merger::CheckPrototype(SymbolId symbol, std::uint32_t prototype) {
  Function& function = program_.functions[program_.symbols[symbol].function];
  if (function.stated_prototype == kNone) {
    function.stated_prototype = prototype;
  } else if (function.stated_prototype != prototype) {
    Report(DiagnosticCode::kPrototypeMismatch, format::nvlink_text::kPrototype, symbol);
  }
}

}  // namespace devlink::internal
