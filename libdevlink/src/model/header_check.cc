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

// What the headers of a kind of section say in every relocatable cubin seen (docs/cubin-format.md,
// "Section order").
struct HeaderForm {
  std::uint32_t align = 0;  // 0 where it is not the same, or is looked at with the entries
  std::uint8_t entry_size = 0;
  std::uint32_t flags = 0;     // but for barriers
  bool names_symbols = false;  // by sh_link
};

constexpr std::uint32_t kWord = 4;
constexpr std::uint32_t kDoubleWord = 8;
constexpr auto kInfoLink = static_cast<std::uint32_t>(format::kShfInfoLink);
constexpr auto kAlloc = static_cast<std::uint32_t>(format::kShfAlloc);
constexpr auto kWritten = static_cast<std::uint32_t>(format::kShfAlloc | format::kShfWrite);
constexpr auto kCodeFlags = static_cast<std::uint32_t>(format::kShfAlloc | format::kShfExec);

HeaderForm FormOf(const InputSection& section, format::ViewKind view) {
  switch (section.role) {
    case SectionRole::kText:
      return {.align = view == format::ViewKind::kMercury ? 16U : 128U,
              .flags = kCodeFlags,
              .names_symbols = true};
    case SectionRole::kFunctionConstants:
      return {.align = section.IsParameterBank() ? kWord : 0, .flags = kAlloc | kInfoLink};
    case SectionRole::kCallGraph:
    case SectionRole::kPrototype:
      return {.align = kWord, .entry_size = 8, .names_symbols = true};
    case SectionRole::kModuleInfo:
      return {.align = kWord, .names_symbols = true};
    case SectionRole::kFunctionInfo:
      return {.align = kWord, .flags = kInfoLink, .names_symbols = true};
    case SectionRole::kCompat:
      return {.align = kWord};
    case SectionRole::kToolNote:
      return {.align = kWord, .flags = static_cast<std::uint32_t>(format::kShfTkInfo)};
    case SectionRole::kCudaNote:
      return {.align = kWord, .flags = static_cast<std::uint32_t>(format::kShfCuInfo)};
    case SectionRole::kRelocations:
      return {.align = kDoubleWord,
              .entry_size = section.entry_size,
              .flags = kInfoLink,
              .names_symbols = true};
    case SectionRole::kTable:
      if (section.type != format::kShtSymtab) return {.entry_size = section.entry_size};
      return {.align = kDoubleWord, .entry_size = sizeof(format::Sym)};
    case SectionRole::kDebug:
      return {.align = 1};
    case SectionRole::kConstantBank:
      return {.flags = kAlloc};
    case SectionRole::kKernelShared:
      return {.flags = kWritten | kInfoLink};
    case SectionRole::kGlobal:
    case SectionRole::kGlobalInit:
    case SectionRole::kModuleShared:
    case SectionRole::kReservedShared:
      return {.flags = kWritten};
    default:
      return {};
  }
}

// Of some kinds a view has no more than one.
bool IsOneOfItsKind(SectionRole role) {
  switch (role) {
    case SectionRole::kToolNote:
    case SectionRole::kCudaNote:
    case SectionRole::kModuleInfo:
    case SectionRole::kCompat:
    case SectionRole::kCallGraph:
    case SectionRole::kPrototype:
    case SectionRole::kGlobalInit:
    case SectionRole::kGlobal:
    case SectionRole::kModuleShared:
      return true;
    default:
      return false;
  }
}

// Whether nothing but the next section can follow it. Behind string tables and values ptxas leaves
// room, and where there are two views behind what both have.
bool EndsWhereNextBegins(const InputSection& section, bool two_views) {
  switch (section.type) {
    case format::kShtRel:
    case format::kShtRela:
    case format::kShtMercuryRela:
      return !two_views ||
             section.name.find(format::section_name::kDebug) == std::string_view::npos;
    case format::kShtNote:
    case format::kShtCudaInfo:
    case format::kShtMercuryInfo:
    case format::kShtCudaPrototype:
    case format::kShtCudaCompat:
    case format::kShtMercuryCode:
      return true;
    case format::kShtProgbits:
      return !two_views || (section.flags & format::kShfExec) != 0;
    default:
      return !two_views && format::IsConstantType(section.type);
  }
}

bool HasFlagsOf(const HeaderForm& form, const InputSection& section) {
  std::uint32_t free = 0;
  if (section.role == SectionRole::kText) free = static_cast<std::uint32_t>(format::kShfBarriers);
  const bool may_belong =
      section.role == SectionRole::kCudaNote || section.type == format::kShtCudaResolvedRela;
  if (may_belong) free = kInfoLink;
  return ((section.flags ^ form.flags) & ~free) == 0;
}

std::uint32_t SymbolTable(std::span<const InputSection> sections) {
  const auto found = std::ranges::find_if(sections, [](const InputSection& section) {
    return section.role != SectionRole::kOtherView && section.type == format::kShtSymtab;
  });
  return static_cast<std::uint32_t>(found - sections.begin());
}

}  // namespace

WrongSection WrongInHeaders(std::span<const InputSection> sections, format::ViewKind view) {
  const std::uint32_t symbols = SymbolTable(sections);
  std::uint32_t seen = 0;  // a bit for each role of which one has been
  for (std::uint32_t i = 1; i < sections.size(); ++i) {
    const InputSection& section = sections[i];
    if (section.role == SectionRole::kOtherView) continue;
    const std::uint32_t bit = std::uint32_t{1} << static_cast<unsigned>(section.role);
    if ((seen & bit) != 0 && IsOneOfItsKind(section.role)) {
      return {i, "there is another one of its kind"};
    }
    seen |= bit;
    const HeaderForm form = FormOf(section, view);
    if (form.align != 0 && section.align != form.align) {
      return {i, "its alignment is not that of its kind"};
    }
    if (section.entry_size != form.entry_size) {
      return {i, "its entries do not have the size of their kind"};
    }
    if (!HasFlagsOf(form, section)) return {i, "its flags are not those of its kind"};
    // What both views have names the symbols of machine code.
    if (form.names_symbols && section.link != symbols && view == format::ViewKind::kSass) {
      return {i, "it does not name the table of symbols"};
    }
  }
  return {};
}

WrongSection WrongInGaps(std::span<const InputSection> sections, base::Bytes headers,
                         std::uint64_t headers_at, bool two_views) {
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
    if (place.section != 0 && !follows && EndsWhereNextBegins(sections[before], two_views)) {
      return {before, "behind it lie bytes that belong to no section"};
    }
    end = std::max(end, place.begin + place.size);
    before = place.section;
  }
  return {};
}

}  // namespace devlink::internal
