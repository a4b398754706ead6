// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace devlink::internal {

// Positions of names in a StringTable, in the order of first mention.
using NameId = std::uint32_t;

// An ELF string table: each name once, in the order of first mention, no sharing of tails. A name
// is hashed when it is added, and never again: whoever adds it keeps its number.
class StringTable {
 public:
  // `head` stands first, unnamed (the prototypes).
  void SetHead(std::string_view head) { head_ = head; }

  NameId Add(std::string_view name) {
    const auto [known, inserted] = ids_.try_emplace(name, static_cast<NameId>(names_.size()));
    if (inserted) names_.push_back({name, 0});
    return known->second;
  }
  void Reserve(std::size_t names) {
    names_.reserve(names);
    ids_.reserve(names);
  }

  // Gives every name its offset and returns the size of the table. No name is added afterwards.
  std::uint64_t Finish() {
    std::uint64_t at = 1 + head_.size();
    for (Name& name : names_) {
      name.offset = static_cast<std::uint32_t>(at);
      at += name.text.size() + 1;
    }
    ids_ = {};
    return at;
  }

  [[nodiscard]] std::uint32_t OffsetOf(NameId name) const { return names_[name].offset; }

  // Writes the table to `out`, which is zeroed and has room for it.
  void Write(std::uint8_t* out) const {
    char* at = reinterpret_cast<char*>(out) + 1;
    at += head_.copy(at, head_.size());
    for (const Name& name : names_) at += name.text.copy(at, name.text.size()) + 1;
  }

 private:
  struct Name {
    std::string_view text;
    std::uint32_t offset = 0;
  };

  std::string_view head_;
  std::vector<Name> names_;
  absl::flat_hash_map<std::string_view, NameId> ids_;
};

}  // namespace devlink::internal
