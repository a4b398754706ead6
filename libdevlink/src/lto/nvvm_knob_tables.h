// SPDX-License-Identifier: Apache-2.0
//
// What is known of libNVVM's knobs, as data.
#pragma once

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
  int slot = 0;
  std::string_view pass;
};
// Sorted by name.
std::span<const KnobNote> KnobNotes();

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
