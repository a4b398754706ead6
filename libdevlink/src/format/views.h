// SPDX-License-Identifier: Apache-2.0
//
// The programs that one cubin can hold. Up to sm_90a there is one, of machine code (SASS). From
// sm_100 on there are two over the same file, with a symbol table each: machine code, and Mercury,
// from which code for a related device can be made. docs/mercury.md says how this was found.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "format/sm_traits.h"

namespace devlink::format {

enum class ViewKind : std::uint8_t { kSass, kMercury };

// Whether cubins of an architecture hold both.
inline bool HasTwoViews(std::uint32_t sm) { return TraitsOf(sm).has_mercury; }

// The low byte of `e_flags`.
inline constexpr std::uint8_t kElfFlagTwoViews = 2;
inline std::uint8_t ElfFlagsLowByte(std::uint32_t sm) {
  return HasTwoViews(sm) ? kElfFlagTwoViews : 4;
}

// A section header in words that do not depend on the view: the name, type and flags that the
// section has, or would have, in machine code. `.nv.capmerc.text.F` is `.text.F`.
struct SectionWords {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
};

// Nothing where the section belongs to the other view. Kernels' shared memory, zeroed variables,
// notes, the call graph and string tables belong to both. Of a cubin that holds both views.
std::optional<SectionWords> SectionInView(ViewKind view, const SectionWords& in_file);

// Whether the section is the Mercury view's own.
bool IsMercurySection(std::uint32_t flags);

// What the compiler's own constants of a function F are called, without the F.
constexpr std::string_view CompilerConstantsPrefix(ViewKind view) {
  return view == ViewKind::kMercury ? ".nv.constant.optimizer." : ".nv.constant2.";
}

}  // namespace devlink::format
