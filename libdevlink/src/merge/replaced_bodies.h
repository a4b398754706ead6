// SPDX-License-Identifier: Apache-2.0
//
// What the merge remembers of bodies that gave way to others. What they brought stays in the
// program while it grows, since its place counts; Compact (merge/compact.h) takes it out.
#pragma once

#include <cstdint>

#include "base/hash_table.h"
#include "model/program.h"

namespace devlink::internal {

// What arrives is told apart by when it came: lists grow at their ends.
class ReplacedBodies {
 public:
  [[nodiscard]] bool empty() const { return bodies_.empty(); }

  // The function gets another body: of its relocations those before `relocations` go, and of the
  // records about it in `.nv.info` those before `info_records`.
  void ReplaceBody(FunctionId function, std::uint32_t relocations, std::uint32_t info_records) {
    bodies_[function] = {relocations, info_records};
  }
  [[nodiscard]] bool HasReplaced(FunctionId function) const { return bodies_.contains(function); }
  [[nodiscard]] bool IsOfReplacedBody(FunctionId function, std::uint32_t relocation) const {
    const auto body = bodies_.find(function);
    return body != bodies_.end() && relocation < body->second.relocations;
  }
  [[nodiscard]] bool IsRecordOfReplacedBody(FunctionId function, std::uint32_t arrival) const {
    const auto body = bodies_.find(function);
    return body != bodies_.end() && arrival < body->second.info_records;
  }

  // Relocations before `relocations` that refer to the function from RELA lists of debug sections
  // go, but for those of `.debug_info`.
  void DropDebugRelocations(SymbolId function, std::uint32_t relocations) {
    debug_relocations_[function] = relocations;
  }
  [[nodiscard]] bool IsDroppedDebugRelocation(SymbolId function, std::uint32_t relocation) const {
    const auto dropped = debug_relocations_.find(function);
    return dropped != debug_relocations_.end() && relocation < dropped->second;
  }

  // The constants of a replaced body, and the variables in them, go; the section may be filled
  // again.
  void Empty(SectionId constants) {
    Bank& bank = banks_[constants];
    ++bank.fillings;
    bank.is_empty = true;
  }
  void Fill(SectionId constants) {
    const auto bank = banks_.find(constants);
    if (bank != banks_.end()) bank->second.is_empty = false;
  }
  [[nodiscard]] bool IsEmpty(SectionId constants) const {
    const auto bank = banks_.find(constants);
    return bank != banks_.end() && bank->second.is_empty;
  }

  [[nodiscard]] bool WasEmptied(SectionId constants) const { return banks_.contains(constants); }

  // A variable is defined in a section as that is filled now.
  void Define(SymbolId variable, SectionId section) {
    const std::uint32_t filling = FillingOf(section);
    if (filling != 0) {
      variables_[variable] = filling;
    } else {
      variables_.erase(variable);
    }
  }
  // Whether the section has been emptied since.
  [[nodiscard]] bool IsVariableGone(SymbolId variable, SectionId section) const {
    const auto defined = variables_.find(variable);
    return FillingOf(section) != (defined == variables_.end() ? 0 : defined->second);
  }

 private:
  struct Body {
    std::uint32_t relocations = 0;
    std::uint32_t info_records = 0;
  };
  struct Bank {
    std::uint32_t fillings = 0;  // how often it was emptied so far
    bool is_empty = false;
  };

  [[nodiscard]] std::uint32_t FillingOf(SectionId section) const {
    const auto bank = banks_.find(section);
    return bank == banks_.end() ? 0 : bank->second.fillings;
  }

  base::HashMap<FunctionId, Body> bodies_;
  base::HashMap<SymbolId, std::uint32_t> debug_relocations_;
  base::HashMap<SectionId, Bank> banks_;
  base::HashMap<SymbolId, std::uint32_t> variables_;  // the filling, where it is not the first
};

}  // namespace devlink::internal
