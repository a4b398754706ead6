// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace devlink::internal {

// An ELF string table: each name once, in the order of first mention, no sharing of tails.
class StringTable {
 public:
  // `head` stands first, unnamed (the prototypes).
  void SetHead(std::string_view head) { head_ = head; }

  void Add(std::string_view name) {
    if (offsets_.try_emplace(name, 0).second) names_.push_back(name);
  }
  void Reserve(std::size_t names) {
    offsets_.reserve(names);
    names_.reserve(names);
  }

  // Gives every name its offset and returns the size of the table.
  std::uint64_t Finish() {
    std::uint64_t at = 1 + head_.size();
    for (const std::string_view name : names_) {
      offsets_[name] = static_cast<std::uint32_t>(at);
      at += name.size() + 1;
    }
    return at;
  }

  // Offset of a name that was added; 0 for the empty name.
  [[nodiscard]] std::uint32_t OffsetOf(std::string_view name) const {
    const auto found = offsets_.find(name);
    return found == offsets_.end() ? 0 : found->second;
  }

  // Writes the table to `out`, which is zeroed and has room for it.
  void Write(std::uint8_t* out) const {
    char* at = reinterpret_cast<char*>(out) + 1;
    at += head_.copy(at, head_.size());
    for (const std::string_view name : names_) at += name.copy(at, name.size()) + 1;
  }

 private:
  std::string_view head_;
  absl::flat_hash_map<std::string_view, std::uint32_t> offsets_;
  std::vector<std::string_view> names_;
};

}  // namespace devlink::internal
