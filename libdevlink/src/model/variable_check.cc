// SPDX-License-Identifier: Apache-2.0
#include "model/variable_check.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>

#include "base/bounded_reader.h"
#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "format/sections.h"

namespace devlink::internal {

namespace {

bool VariableLiesBefore(const PlacedVariable& a, const PlacedVariable& b) {
  return std::tie(a.section, a.begin, a.end) < std::tie(b.section, b.begin, b.end);
}

// ptxas counts the bytes of `.nv.global` in 32 bits. Where they do not suffice it is plain from the
// variables how many there should be.
bool IsTooSmall(const InputSection& section, std::uint64_t end) {
  return section.role == SectionRole::kGlobal && end > section.size &&
         static_cast<std::uint32_t>(end) != section.size;
}

bool EndsWithLastVariable(const InputSection& section, bool named,
                          absl::FunctionRef<bool()> from_assembler) {
  switch (section.role) {
    case SectionRole::kGlobal:
    case SectionRole::kGlobalInit:
    case SectionRole::kConstantBank:
      return from_assembler();
    case SectionRole::kFunctionConstants:
      return named && !section.IsParameterBank() && from_assembler();
    default:
      return false;
  }
}

}  // namespace

WrongSection WrongInVariables(std::span<const InputSection> sections,
                              std::vector<PlacedVariable>& variables, bool named,
                              absl::FunctionRef<bool()> from_assembler) {
  if (!std::is_sorted(variables.begin(), variables.end(), VariableLiesBefore)) {
    std::sort(variables.begin(), variables.end(), VariableLiesBefore);
  }
  // nvlink -r leaves those of bodies that it replaced; no byte is read through them.
  const auto may_overlap = [&](const InputSection& section) {
    return section.role == SectionRole::kFunctionConstants && !from_assembler();
  };
  auto next = variables.begin();
  for (std::uint32_t i = 0; i < sections.size(); ++i) {
    std::uint64_t end = 0;
    for (; next != variables.end() && next->section == i; ++next) {
      if (next->begin < end && !may_overlap(sections[i]))
        return {i, "two of its variables lie in one place"};
      end = std::max(end, next->end);
    }
    if (IsTooSmall(sections[i], end)) return {i, "a variable reaches beyond it"};
    if (end < sections[i].size && EndsWithLastVariable(sections[i], named, from_assembler)) {
      return {i, "it has bytes that belong to no variable"};
    }
  }
  return {};
}

WrongSection WrongInPointers(std::span<const InputSection> sections,
                             std::span<const PlacedVariable> variables) {
  for (std::uint32_t i = 0; i < sections.size(); ++i) {
    const InputSection& list = sections[i];
    if (list.role != SectionRole::kRelocations) continue;
    const SectionRole role = sections[list.info].role;
    if (role != SectionRole::kGlobalInit && role != SectionRole::kConstantBank) continue;
    const base::BoundedReader entries(list.data);
    for (std::uint64_t at = 0; at < list.data.size(); at += list.entry_size) {
      const auto entry = entries.ReadOrZero<format::Rel>(at);
      const std::uint64_t end =
          entry.offset + format::BytesOfField(*format::FindRelocation(entry.type));
      // The last one that begins there or before.
      const auto next =
          std::ranges::partition_point(variables, [&](const PlacedVariable& variable) {
            return std::tie(variable.section, variable.begin) <= std::tie(list.info, entry.offset);
          });
      if (next == variables.begin() || std::prev(next)->section != list.info ||
          std::prev(next)->end < end) {
        return {i, "a relocation is not of any variable"};
      }
    }
  }
  return {};
}

}  // namespace devlink::internal
