// SPDX-License-Identifier: Apache-2.0
//
// Places in one function's code, as machine code and as Mercury code count them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "model/module.h"

namespace devlink::internal {

// The symbol of the function that a code section has, as the section says.
inline std::uint32_t FunctionOf(const ModuleView& view, const InputSection& code) {
  const bool mercury = view.kind() == format::ViewKind::kMercury;
  return mercury ? code.info : format::FunctionOfCode(code.info);
}

// Whether symbol `index` names a part of another function's code, as an extensible whole program
// has them: `$K$F` is what kernel K has of F. Takes what has not been checked.
inline bool IsPartOfCode(const ModuleView& view, std::span<const InputSection> sections,
                         std::uint32_t index, const InputSymbol& symbol) {
  return view.extensible() && symbol.type == format::kSttFunc &&
         (symbol.size != 0 || symbol.value != 0) && symbol.section < sections.size() &&
         FunctionOf(view, sections[symbol.section]) != index;
}

// Where the places in a function's code end, as `view` counts them. Mercury code is packed: its
// places are those of the code that it stands for, whose size only its function's symbol tells.
// Takes what has not been checked.
inline std::uint64_t EndOfPlaces(const ModuleView& view, const InputSection& code) {
  if (view.kind() != format::ViewKind::kMercury) return code.data.size();
  return code.info < view.symbol_count() ? view.SymbolAt(code.info).size : 0;
}

class CodePlaces {
 public:
  void Add(std::int64_t sass, std::int64_t mercury) { places_.emplace_back(sass, mercury); }

  // Whether they are those of instructions and stand in one order in both, and those that are one
  // place are one in both. None are left.
  [[nodiscard]] bool TakeInOneOrder() {
    std::vector<std::pair<std::int64_t, std::int64_t>> places;
    places.swap(places_);
    for (const auto& [sass, mercury] : places) {
      if (sass % format::kInstructionSize != 0) return false;
    }
    std::sort(places.begin(), places.end());
    for (std::size_t i = 1; i < places.size(); ++i) {
      const auto& [sass, mercury] = places[i];
      const auto& [sass_before, mercury_before] = places[i - 1];
      if (sass == sass_before ? mercury != mercury_before : mercury <= mercury_before) return false;
    }
    return true;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> places_;
};

}  // namespace devlink::internal
