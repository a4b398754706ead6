// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash_table.h"
#include "base/name_index.h"
#include "write/output_buffer.h"

namespace devlink::internal {

// Positions of names in a StringTable, in the order of first mention.
using NameId = std::uint32_t;
inline constexpr NameId kNameless = 0xffffffff;  // the empty name: offset 0 of any table

// An ELF string table: names in the order of first mention, usually each once, no sharing of tails.
// A name is hashed when it is added, and never again: whoever adds it keeps its number. Names are
// borrowed and shorter than 4 GiB.
class StringTable {
 public:
  // `head` stands first, unnamed (the prototypes).
  void SetHead(std::string_view head) { head_ = head; }

  NameId Add(std::string_view name) { return Add(name, HashOf(name)); }
  // The same for a name that goes into several tables and was hashed once.
  NameId Add(std::string_view name, std::uint32_t hash) {
    // Room comes first: where there is none, no number is given.
    if (names_.size() == names_.capacity()) names_.reserve(names_.size() * 2 + 4);
    const auto next = static_cast<NameId>(names_.size());
    const auto is_name = [&](NameId known) {
      if (HashOf(known) != hash) return false;
      const std::string_view other = names_[known].text();
      // Mostly it is the same name again, and need not be read.
      return name.size() == other.size() && (name.data() == other.data() || name == other);
    };
    const NameId id =
        ids_.FindOrAdd(hash, next, is_name, [this](NameId known) { return HashOf(known); });
    if (id == next) Append(name, hash);
    return id;
  }
  // Enters a name even where it stands there already; found by that name is the first.
  NameId AddAnew(std::string_view name, std::uint32_t hash) {
    const auto id = static_cast<NameId>(names_.size());
    if (Add(name, hash) != id) Append(name, hash);
    return id;
  }
  static std::uint32_t HashOf(std::string_view name) { return base::ShortHashOf(name); }
  // Zero bytes behind a name, beyond the one that ends it.
  void Pad(NameId name, std::uint32_t bytes) { paddings_[name] += bytes; }

  void Reserve(std::size_t names) {
    names_.reserve(names + 1);
    ids_.Reserve(names, [this](NameId known) { return HashOf(known); });
  }

  // Frees what finds names again. No name is added afterwards.
  void Complete() { ids_ = base::NameIndex(); }

  // With the names that are in it so far.
  [[nodiscard]] std::uint64_t Size() const {
    std::uint64_t size = 1 + head_.size();
    for (const Name& name : names_) size += std::uint64_t{name.size} + 1 + PaddingOf(name);
    return size;
  }

  // Gives every name its offset and returns the size of the table. No name is added afterwards.
  std::uint64_t Finish() {
    std::uint64_t at = 1 + head_.size();
    for (Name& name : names_) {
      name.hash_or_offset = static_cast<std::uint32_t>(at);
      at += std::uint64_t{name.size} + 1 + PaddingOf(name);
    }
    Complete();
    return at;
  }

  // Every number below is a name's.
  [[nodiscard]] std::size_t count() const { return names_.size(); }
  [[nodiscard]] std::string_view TextOf(NameId name) const { return names_[name].text(); }
  [[nodiscard]] std::uint32_t OffsetOf(NameId name) const {
    return name == kNameless ? 0 : names_[name].hash_or_offset;
  }

  void Write(OutputBuffer& out) const {
    constexpr std::uint8_t kEnd = 0;
    out.PutValue(kEnd);
    out.Put(head_);
    for (const Name& name : names_) {
      const std::span<std::uint8_t> place = out.Reserve(std::uint64_t{name.size} + 1);
      if (name.size != 0) std::memcpy(place.data(), name.begin, name.size);
      place.back() = kEnd;
      if (const std::uint32_t padding = PaddingOf(name); padding != 0) {
        out.ZeroesTo(out.position() + padding);
      }
    }
  }

 private:
  // Two words a name; there are several for every section and symbol.
  struct Name {
    const char* begin = nullptr;
    std::uint32_t size = 0;
    std::uint32_t hash_or_offset = 0;  // the offset once Finish has given it
    [[nodiscard]] std::string_view text() const { return {begin, size}; }
  };
  // While names are added.
  [[nodiscard]] std::uint32_t HashOf(NameId name) const { return names_[name].hash_or_offset; }
  void Append(std::string_view name, std::uint32_t hash) {
    names_.push_back({name.data(), static_cast<std::uint32_t>(name.size()), hash});
  }
  [[nodiscard]] std::uint32_t PaddingOf(const Name& name) const {
    if (paddings_.empty()) return 0;
    const auto found = paddings_.find(static_cast<NameId>(&name - names_.data()));
    return found == paddings_.end() ? 0 : found->second;
  }

  std::string_view head_;
  std::vector<Name> names_;
  base::NameIndex ids_;
  base::HashMap<NameId, std::uint32_t> paddings_;
};

}  // namespace devlink::internal
