// SPDX-License-Identifier: Apache-2.0
#include "model/header_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/align.h"
#include "format/elf_cuda.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

// How sections of a kind are aligned, and the size of their entries: the same in every relocatable
// cubin seen (docs/cubin-format.md, "Section order"). 0 where it is not the same, or is looked at
// with the entries.
struct HeaderForm {
  std::uint32_t align = 0;
  std::uint8_t entry_size = 0;
};

HeaderForm FormOf(const InputSection& section, format::ViewKind view) {
  constexpr std::uint32_t kWord = 4;
  constexpr std::uint32_t kDoubleWord = 8;
  switch (section.role) {
    case SectionRole::kText:
      return {.align = view == format::ViewKind::kMercury ? 16U : 128U};
    case SectionRole::kFunctionConstants:
      return {.align = section.IsParameterBank() ? kWord : 0};
    case SectionRole::kCallGraph:
    case SectionRole::kPrototype:
      return {.align = kWord, .entry_size = 8};
    case SectionRole::kModuleInfo:
    case SectionRole::kFunctionInfo:
    case SectionRole::kCompat:
    case SectionRole::kToolNote:
    case SectionRole::kCudaNote:
      return {.align = kWord};
    case SectionRole::kRelocations:
      return {.align = kDoubleWord, .entry_size = section.entry_size};
    case SectionRole::kTable:
      if (section.type != format::kShtSymtab) return {.entry_size = section.entry_size};
      return {.align = kDoubleWord, .entry_size = sizeof(format::Sym)};
    case SectionRole::kDebug:
      return {.align = 1};
    default:
      return {};
  }
}

// Whether nothing but the next section can follow it. Behind string tables, values and records of
// debug information ptxas and nvlink leave room.
bool EndsWhereNextBegins(const InputSection& section) {
  switch (section.type) {
    case format::kShtRel:
    case format::kShtRela:
    case format::kShtMercuryRela:
      return section.name.find(format::section_name::kDebug) == std::string_view::npos;
    case format::kShtNote:
    case format::kShtCudaInfo:
    case format::kShtMercuryInfo:
    case format::kShtCudaPrototype:
    case format::kShtCudaCompat:
    case format::kShtMercuryCode:
      return true;
    case format::kShtProgbits:
      return (section.flags & format::kShfExec) != 0;
    default:
      return false;
  }
}

}  // namespace

WrongSection WrongInHeaders(std::span<const InputSection> sections, format::ViewKind view) {
  for (std::uint32_t i = 1; i < sections.size(); ++i) {
    const InputSection& section = sections[i];
    if (section.role == SectionRole::kOtherView) continue;
    const HeaderForm form = FormOf(section, view);
    if (form.align != 0 && section.align != form.align) {
      return {i, "its alignment is not that of its kind"};
    }
    if (section.entry_size != form.entry_size) {
      return {i, "its entries do not have the size of their kind"};
    }
  }
  return {};
}

WrongSection WrongInGaps(std::span<const InputSection> sections, base::Bytes headers,
                         std::uint64_t headers_at) {
  struct Place {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
    std::uint32_t section = 0;
  };
  std::vector<Place> places;
  places.reserve(sections.size());
  places.push_back({headers_at, headers.size(), 0});  // anywhere, but mostly behind all
  const base::BoundedReader table(headers);
  for (std::uint32_t i = 1; i < sections.size(); ++i) {
    const auto raw = table.ReadOrZero<format::Shdr>(std::uint64_t{i} * sizeof(format::Shdr));
    const bool has_bytes = format::HasBytes(raw.type, raw.flags);
    if (raw.size != 0 || !has_bytes) places.push_back({raw.offset, has_bytes ? raw.size : 0, i});
  }
  std::ranges::stable_sort(places, {}, &Place::begin);
  std::uint64_t end = sizeof(format::Ehdr);
  std::uint32_t before = 0;
  for (const Place& place : places) {
    const bool follows = place.begin <= base::AlignUp(end, sections[place.section].align);
    // Memory without bytes in the file has its place there, but for its alignment.
    if (place.size == 0 && !follows) continue;
    if (place.section != 0 && !follows && EndsWhereNextBegins(sections[before])) {
      return {before, "behind it lie bytes that belong to no section"};
    }
    end = std::max(end, place.begin + place.size);
    before = place.section;
  }
  return {};
}

}  // namespace devlink::internal
