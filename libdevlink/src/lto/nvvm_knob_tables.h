// SPDX-License-Identifier: Apache-2.0
//
// What is known of libNVVM's knobs, as data.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "devlink/experimental/nvvm_pass_options.h"

namespace devlink::internal {

// Names of one kind, one after the other with a space or line end between them. A choice has its
// words behind the name: `frame-pointer:all|none`.
struct KnobNames {
  NvvmKnobKind kind = NvvmKnobKind::kBoolean;
  NvvmKnobScope scope = NvvmKnobScope::kLibrary;
  std::string_view names;
};

struct KnobTable {
  std::span<const KnobNames> names;
  std::string_view measured;  // names that changed the code of the sample
  std::string_view unsafe;    // names that libNVVM knows and that are never let through
};
const KnobTable& Llvm7Knobs();
const KnobTable& Llvm20Knobs();

// What a person should know of a knob.
struct KnobNote {
  std::string_view name;
  std::string_view default_value;
  int slot = 0;  // its number among the NvvmPassSlots; 0 where that is not known
  std::string_view pass;
};
// Sorted by name.
std::span<const KnobNote> KnobNotes();

// The known name that differs least from `name`; empty where none is similar.
std::string_view NearestNvvmKnob(std::string_view name, NvvmGeneration generation);

// How the optimiser resolves a switch: a given value is on if it begins with 1, t or T, whatever
// follows; without one, or with an empty one, the default decides, which is on if it begins with 1.
bool ResolveNvvmBoolean(std::optional<std::string_view> value, std::string_view default_value);

// Steps through names separated by spaces and line ends.
class NameWalk {
 public:
  explicit NameWalk(std::string_view names) : rest_(names) {}
  // Empty at the end.
  std::string_view Next() {
    const std::size_t begin = rest_.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return {};
    rest_.remove_prefix(begin);
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \n"));
    rest_.remove_prefix(word.size());
    return word;
  }

 private:
  std::string_view rest_;
};

}  // namespace devlink::internal
