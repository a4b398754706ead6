// SPDX-License-Identifier: Apache-2.0
#include "support/two_views.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string_view>
#include <vector>

#include "devlink-diff/cubin_view.h"
#include "support/text.h"

namespace devlink::testing {

namespace {

using diff::CubinView;
using diff::ViewSection;

constexpr std::string_view kCode = ".text.";
constexpr std::string_view kCapsule = ".nv.capmerc.text.";

bool SameBytes(const ViewSection& a, const ViewSection& b) {
  return a.size == b.size && std::equal(a.data.begin(), a.data.end(), b.data.begin(), b.data.end());
}

// The function that a section belongs to, where the finalizer changes sections of its kind.
std::string_view FunctionOf(std::string_view section) {
  for (const std::string_view prefix :
       {kCode, kCapsule, std::string_view(".nv.info."), std::string_view(".rela.text."),
        std::string_view(".nv.resolvedrela.text.")}) {
    if (section.starts_with(prefix)) return section.substr(prefix.size());
  }
  return {};
}

bool IsAboutCode(std::string_view section) {
  constexpr std::array<std::string_view, 9> kNames = {
      ".debug_frame",     ".rela.debug_frame",       ".debug_line",
      ".rela.debug_line", ".nv_debug_line_sass",     ".rela.nv_debug_line_sass",
      ".debug_loc",       ".nv_debug_info_reg_sass", ".rela.debug_loc"};
  return std::find(kNames.begin(), kNames.end(), section) != kNames.end() ||
         section == ".debug_info" || section == ".rela.debug_info";
}

bool SameWords(const ViewSection& a, const ViewSection& b) {
  return a.name == b.name && a.name_offset == b.name_offset && a.type == b.type &&
         a.flags == b.flags && a.link == b.link && a.info == b.info && a.align == b.align &&
         a.entry_size == b.entry_size;
}

// Tag 0b, the last record, is the finalizer's.
bool SameCompat(const ViewSection& a, const ViewSection& b) {
  constexpr std::size_t kMask = 8;
  if (a.size != b.size || a.data.size() < kMask) return false;
  return std::equal(a.data.begin(), a.data.end() - kMask, b.data.begin());
}

// The names of functions whose code nvlink's finalizer changed.
std::set<std::string_view> ChangedFunctions(const CubinView& theirs, const CubinView& ours) {
  std::set<std::string_view> out;
  for (std::size_t i = 0; i < theirs.sections.size(); ++i) {
    const ViewSection& section = theirs.sections[i];
    for (const std::string_view prefix : {kCode, kCapsule}) {
      if (section.name.starts_with(prefix) && !SameBytes(section, ours.sections[i])) {
        out.insert(std::string_view(section.name).substr(prefix.size()));
      }
    }
  }
  return out;
}

// Constants of the compiler, where they differ in nothing but entries of jump tables, which are
// places in code that changed.
bool DifferInPlacesOnly(const ViewSection& theirs, const ViewSection& ours, const CubinView& view,
                        const std::set<std::string_view>& changed) {
  constexpr std::string_view kConstants = ".nv.constant2.";
  if (!ours.name.starts_with(kConstants) || theirs.size != ours.size) return false;
  const ViewSection* list =
      view.Find(Cat(".nv.merc.rela.nv.constant.optimizer.", ours.name.substr(kConstants.size())));
  if (list == nullptr) return false;
  std::vector<std::uint8_t> expected(ours.data.begin(), ours.data.end());
  Elf64_Rela entry = {};
  for (std::size_t at = 0; at + sizeof(entry) <= list->data.size(); at += sizeof(entry)) {
    std::memcpy(&entry, list->data.data() + at, sizeof(entry));
    const std::uint64_t symbol = ELF64_R_SYM(entry.r_info);
    if (symbol >= view.mercury_symbols.size() ||
        !changed.contains(view.mercury_symbols[symbol].name)) {
      continue;
    }
    for (std::uint64_t i = entry.r_offset; i < entry.r_offset + 4 && i < expected.size(); ++i) {
      expected[i] = theirs.data[i];
    }
  }
  return std::ranges::equal(expected, theirs.data);
}

std::string SymbolDifference(const CubinView& theirs, const CubinView& ours,
                             const std::set<std::string_view>& changed) {
  if (theirs.symbols.size() != ours.symbols.size()) return "the number of symbols";
  for (std::size_t i = 0; i < theirs.symbols.size(); ++i) {
    const diff::ViewSymbol& a = theirs.symbols[i];
    const diff::ViewSymbol& b = ours.symbols[i];
    const bool same_size = a.size == b.size || (!changed.empty() && (a.info & 15) == 2);
    if (a.key != b.key || a.name_offset != b.name_offset || a.info != b.info ||
        a.other != b.other || a.section != b.section || a.value != b.value || !same_size) {
      return Cat("the symbol ", a.key);
    }
  }
  return {};
}

}  // namespace

TwoViewComparison CompareTwoViews(std::span<const std::uint8_t> theirs,
                                  std::span<const std::uint8_t> ours) {
  const CubinView a = diff::ViewCubin(theirs);
  const CubinView b = diff::ViewCubin(ours);
  TwoViewComparison out;
  if (!b.problems.empty()) {
    out.difference = b.problems.front();
    return out;
  }
  if (a.sections.size() != b.sections.size()) {
    out.difference = Cat(a.sections.size(), " and ", b.sections.size(), " sections");
    return out;
  }
  const std::set<std::string_view> changed = ChangedFunctions(a, b);
  out.finalized = static_cast<int>(changed.size());
  for (std::size_t i = 0; i < a.sections.size(); ++i) {
    const ViewSection& section = a.sections[i];
    const ViewSection& other = b.sections[i];
    if (!SameWords(section, other)) {
      out.difference = Cat("the header of ", section.name, ", ours ", other.name);
      return out;
    }
    if (section.name == ".note.nv.tkinfo" || SameBytes(section, other)) continue;
    if (section.name == ".symtab") {
      out.difference = SymbolDifference(a, b, changed);
    } else if (section.name == ".nv.compat" && SameCompat(section, other)) {
      continue;
    } else if (!changed.contains(FunctionOf(section.name)) &&
               (changed.empty() || !IsAboutCode(section.name)) &&
               !DifferInPlacesOnly(section, other, b, changed)) {
      out.difference = Cat("the bytes of ", section.name);
    }
    if (!out.difference.empty()) return out;
  }
  // Where no size differs, neither does any place.
  const bool same_layout =
      std::equal(a.sections.begin(), a.sections.end(), b.sections.begin(),
                 [](const ViewSection& x, const ViewSection& y) { return x.size == y.size; });
  if (same_layout && a.header != b.header) out.difference = "the header of the file";
  for (std::size_t i = 0; same_layout && i < a.sections.size(); ++i) {
    if (a.sections[i].offset != b.sections[i].offset) {
      out.difference = Cat("the place of ", a.sections[i].name);
      break;
    }
  }
  return out;
}

}  // namespace devlink::testing
