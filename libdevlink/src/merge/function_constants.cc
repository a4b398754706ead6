// SPDX-License-Identifier: Apache-2.0
#include "merge/function_constants.h"

#include <algorithm>

#include "base/align.h"

namespace devlink::internal {

namespace section_name = format::section_name;

SectionId FunctionConstants::Find(const Function& function, std::string_view name) const {
  SectionId found = kNone;
  for (const SectionId id : function.constants) {
    if (program_.sections[id].name != name) continue;
    found = id;
    if (!function.is_kernel) break;
  }
  return found;
}

void FunctionConstants::Map(std::uint32_t index, bool by_variable) {
  const InputSection& section = input_.sections[index];
  const SectionMapping& code = input_.section_map[section.info];
  const bool kept = code.state == SectionMapping::kMapped;
  const SectionId text = kept ? code.section : input_.surviving[section.info];
  const bool parameters = section.IsParameterBank();
  SectionMapping& mapping = input_.section_map[index];
  mapping.state = SectionMapping::kDiscarded;
  if (text == kNone || (!kept && !parameters && !keeps_discarded_)) return;

  const Function& function = program_.functions[program_.sections[text].function];
  const SectionId known = Find(function, section.name);
  // A section that only a discarded copy brought is not that of a body that now takes its place.
  const bool of_discarded_copy =
      known != kNone && kept && program_.sections[known].stays_in_place && replaced_.IsEmpty(known);
  bool is_unused = !kept && mapping.has_symbols;
  if (known == kNone || of_discarded_copy) {
    if (!kept && parameters) return;
    const SectionId added = Add(section, text);
    Append(added, index, 0);
    program_.sections[added].stays_in_place = !kept || (!by_variable && !parameters);
    // CUDA 12.2 and earlier flag neither; nvlink leaves parameters at that.
    if (!parameters) program_.sections[added].flags |= format::kShfInfoLink;
  } else if (replaced_.IsEmpty(known)) {
    if (!kept && parameters) return;
    Append(known, index, 0);
  } else {
    const bool weak_only = program_.symbols[function.symbol].binding == format::kStbWeak;
    if (parameters && weak_only) return;
    Append(known, index, base::AlignUp(program_.sections[known].size, section.align));
    is_unused =
        is_unused || (kept && !by_variable);  // a second section of nvlink -r, without variables
  }
  if (parameters) return;
  if (is_unused) program_.residue.discarded_variables[mapping.section] = mapping.base;
  if (kept) return;
  mapping.state = SectionMapping::kDiscarded;
  program_.residue.discarded_constants.try_emplace(mapping.section, mapping.base);
}

void FunctionConstants::Append(SectionId id, std::uint32_t index, std::uint64_t offset) {
  const InputSection& section = input_.sections[index];
  Section& out = program_.sections[id];
  replaced_.Fill(id);
  AppendPiece(out, section.data, offset);
  out.size = offset + section.size;
  out.align = std::max(out.align, section.align);
  SectionMapping& mapping = input_.section_map[index];
  mapping.section = id;
  mapping.base = offset;
  mapping.state = SectionMapping::kMapped;
}

SectionId FunctionConstants::Add(const InputSection& section, SectionId text) {
  const auto id = static_cast<SectionId>(program_.sections.size());
  Section& out = program_.sections.emplace_back();
  out.name = section.name;
  out.kind = SectionKind::kFunctionConstants;
  out.type = format::kShtProgbits;
  out.flags = section.flags;
  if (section.lacks_info_link) out.flags &= ~std::uint32_t{format::kShfInfoLink};
  out.bank = BankNumberOf(section);
  out.owner = text;
  out.function = program_.sections[text].function;
  program_.functions[out.function].constants.push_back(id);
  // Bank 0 brings the name of a relocation section that never exists with it.
  program_.section_names.push_back({.text = section.name, .section = id});
  if (section.IsParameterBank() && !relocatable_) {
    const std::string_view rel = builder_.Concat(
        builder_.force_rela ? section_name::kRela : section_name::kRel, section.name);
    program_.section_names.push_back({.text = rel, .section = id});
    program_.symbol_names.push_back({.text = rel, .section = id});
  }
  program_.symbol_names.push_back({.text = section.name, .section = id});
  builder_.AddSectionSymbol(id);
  return id;
}

void FunctionConstants::Trim() {
  for (std::uint32_t i = 0; i < input_.sections.size(); ++i) {
    const InputSection& input = input_.sections[i];
    const SectionMapping& mapping = input_.section_map[i];
    const std::uint64_t end = input_.constants_end[i];
    if (input.role != SectionRole::kFunctionConstants || mapping.state != SectionMapping::kMapped ||
        input.IsParameterBank() || end == 0 || end == input.size) {
      continue;
    }
    Section& out = program_.sections[mapping.section];
    if (out.pieces.empty() || out.pieces.back().offset != mapping.base) continue;
    base::Bytes& bytes = out.pieces.back().bytes;
    bytes = bytes.first(std::min<std::uint64_t>(end, bytes.size()));
    out.size = mapping.base + end;
  }
}

void FunctionConstants::Empty(const Function& function, bool by_strong_copy) {
  for (const SectionId id : function.constants) {
    Section& constants = program_.sections[id];
    // A strong copy of a kernel leaves the parameters of the weak one where they are.
    if (by_strong_copy && IsParameterBank(constants)) continue;
    if (Find(function, constants.name) != id) continue;
    replaced_.Empty(id);
    program_.residue.discarded_variables.erase(id);
    program_.residue.discarded_constants.erase(id);
    constants.pieces.clear();
    constants.size = 0;
  }
}

}  // namespace devlink::internal
