// SPDX-License-Identifier: Apache-2.0
//
// Whether what was added to a CubinWriter can be written.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "write/cubin_state.h"

namespace devlink {

using internal::Content;
using internal::Index;
using internal::kBadAlign;
using internal::kMaxFile;
using internal::kNoInfo;
using internal::PatchRun;
using internal::PatchState;
using internal::SectionState;
using internal::SymbolState;

absl::Status CubinWriter::State::Check() const {
  if (mistake != nullptr) return absl::InvalidArgumentError(mistake);
  if (own.size() > std::numeric_limits<std::uint32_t>::max()) {
    return absl::ResourceExhaustedError("more than 4 GiB of attributes and relocations");
  }
  DEVLINK_RETURN_IF_ERROR(CheckSections());
  DEVLINK_RETURN_IF_ERROR(CheckSymbols());
  return CheckPatches();
}

absl::Status CubinWriter::State::CheckSections() const {
  const auto known_or_none = [this](SectionHandle handle) {
    return handle == kNoSection || IsKnown(handle);
  };
  std::uint64_t total = 0;
  for (const SectionState& section : sections) {
    const std::size_t limit = section.info_is_symbol ? symbols.size() : sections.size();
    bool ok = section.align_bits != kBadAlign && known_or_none(section.link) &&
              (section.info == kNoInfo || section.info < limit);
    if (ok && section.content == Content::kShared) {
      ok = IsKnown(section.owner()) && sections[Index(section.owner())].content == Content::kRuns;
    }
    if (!ok) {
      return absl::InvalidArgumentError(
          absl::StrCat("section '", base::ToAbsl(NameOf(section)),
                       "': its alignment, its flags or a reference is invalid"));
    }
    if (!format::HasBytes(section.type, section.flags)) continue;
    if (section.file_size() > kMaxFile) total = section.file_size();
    if (total > kMaxFile) break;
    total += section.file_size() + section.align();
  }
  for (const auto& [section, gap] : gaps) {
    if (!IsKnown(section)) return absl::InvalidArgumentError("a gap stands before no section");
    total += std::min(gap, kMaxFile);
    if (total > kMaxFile) break;
  }
  if (total > kMaxFile) {
    return absl::ResourceExhaustedError("the output would be larger than 64 GiB");
  }
  for (const SegmentSpec& segment : segment_specs) {
    if (!known_or_none(segment.first) || !known_or_none(segment.last) ||
        (segment.first == kNoSection) != (segment.last == kNoSection)) {
      return absl::InvalidArgumentError("a segment covers sections that were never added");
    }
  }
  return absl::OkStatus();
}

absl::Status CubinWriter::State::CheckSymbols() const {
  for (const SymbolState& symbol : symbols) {
    if (symbol.section != kNoSection && !IsKnown(symbol.section)) {
      return absl::InvalidArgumentError(
          absl::StrCat("symbol ", &symbol - symbols.data(), " names no section of this file"));
    }
  }
  std::vector<bool> has_wide_indices(symbol_tables.size(), section_count() < format::kShnLoReserve);
  has_wide_indices.front() = true;  // CompleteSections sees to it
  for (const SectionState& section : sections) {
    if (section.content != Content::kWideIndices) continue;
    const internal::SymbolTableState* table = TableOf(section);
    if (table == nullptr) {
      return absl::InvalidArgumentError("wide section indices of no symbol table");
    }
    has_wide_indices[static_cast<std::size_t>(table - symbol_tables.data())] = true;
  }
  if (std::find(has_wide_indices.begin(), has_wide_indices.end(), false) !=
      has_wide_indices.end()) {
    return absl::InvalidArgumentError(
        "a symbol table without wide indices in a file of so many sections");
  }
  bool words_ok = true;
  ForEachSymbolWord([&](std::size_t at) {
    const std::uint32_t symbol = OwnWord(at);
    words_ok = words_ok && (symbol < symbols.size() || symbol == Index(kNullSymbol));
  });
  if (!words_ok) {
    return absl::InvalidArgumentError("a record refers to a symbol that the output does not have");
  }
  if (!std::all_of(section_words.begin(), section_words.end(),
                   [this](std::uint32_t at) { return OwnWord(at) < sections.size(); })) {
    return absl::InvalidArgumentError("a record refers to a section that the output does not have");
  }
  return absl::OkStatus();
}

absl::Status CubinWriter::State::CheckPatches() const {
  for (const PatchRun& run : patch_runs) {
    const SectionState* section = IsKnown(run.section) ? &sections[Index(run.section)] : nullptr;
    if (section == nullptr || section->content != Content::kRuns ||
        !format::HasBytes(section->type, section->flags)) {
      return absl::InvalidArgumentError("a patch lies outside its section");
    }
    for (const PatchState& patch : std::span(patches).subspan(run.first, run.count)) {
      const std::uint64_t bytes = (patch.field.position + patch.field.width + 7U) / 8U;
      if (patch.field.width > 64 || patch.offset > section->size ||
          section->size - patch.offset < bytes) {
        return absl::InvalidArgumentError("a patch lies outside its section");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace devlink
