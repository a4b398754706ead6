// SPDX-License-Identifier: Apache-2.0
//
// What an executable and the output of a partial link have differently: which parts of the program
// are in it, and what they look like there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "link/shared_partial.h"
#include "model/program.h"

namespace devlink::internal {

// Which parts of the program the output does not have.
struct LeftOut {
  std::vector<bool> sections;  // by SectionId
  std::vector<bool> symbols;   // by SymbolId
  std::vector<bool> names;     // by SectionId: not even the name in the string tables

  [[nodiscard]] bool Keeps(const NameEntry& name) const {
    return (name.section == kNone || !names[name.section]) &&
           (name.symbol == kNone || !symbols[name.symbol]);
  }
};

// What the header of a section says.
struct SectionShape {
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t nobits_size = 0;
  std::uint64_t align = 1;
};

// What the entry of a symbol says.
struct SymbolShape {
  std::uint8_t binding = 0;
  std::uint8_t type = 0;
  std::uint8_t other = 0;
  SectionId section = kNone;
  FunctionId late_kernel = kNone;  // SharedPlace::late_kernel
  std::uint64_t value = 0;
  bool name_only = false;  // nothing but its name is written
};

class OutputForm {
 public:
  virtual ~OutputForm() = default;
  [[nodiscard]] virtual bool relocatable() const = 0;
  [[nodiscard]] virtual const LeftOut& left_out() const = 0;
  [[nodiscard]] virtual SectionShape ShapeOfSection(SectionId section) const = 0;
  [[nodiscard]] virtual SymbolShape ShapeOfSymbol(SymbolId symbol) const = 0;
  // Symbols that stand behind all others (PartialSharedLayout::instances).
  [[nodiscard]] virtual std::span<const ExternalInstance> Instances() const { return {}; }
};

}  // namespace devlink::internal
