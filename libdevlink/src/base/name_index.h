// SPDX-License-Identifier: Apache-2.0
//
// Tables of names, for those that every link fills: a link of two small cubins enters two hundred
// names, and general hash tables take longer to make room for a few than to keep them. What cannot
// be entered for want of memory leaves a table as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/name_hash.h"

namespace devlink::base {

// The hash of a name as tables keep it.
inline std::uint32_t ShortHashOf(std::string_view name) {
  return static_cast<std::uint32_t>(HashName(name));
}

// Finds names in a list that somebody else keeps, by hashes that stand there, too. A number is a
// name's place in the list.
class NameIndex {
 public:
  static constexpr std::uint32_t kAbsent = 0xffffffff;

  // The number of the name with this hash for which `is_name(number)` holds.
  template <typename IsName>
  [[nodiscard]] std::uint32_t Find(std::uint32_t hash, const IsName& is_name) const {
    return slots_.empty() ? kAbsent : slots_[PlaceOf(hash, is_name)];
  }

  // The same, and where it is not there yet, it is from here on, as `number`. `hash_of(number)` is
  // the hash of a name that is there.
  template <typename IsName, typename HashOf>
  std::uint32_t FindOrAdd(std::uint32_t hash, std::uint32_t number, const IsName& is_name,
                          const HashOf& hash_of) {
    if (count_ == Limit()) Grow(count_ + 1, hash_of);
    std::uint32_t& slot = slots_[PlaceOf(hash, is_name)];
    if (slot == kAbsent) {
      slot = number;
      ++count_;
    }
    return slot;
  }

  template <typename HashOf>
  void Reserve(std::size_t names, const HashOf& hash_of) {
    if (names > Limit()) Grow(names, hash_of);
  }

 private:
  // A quarter of the slots is free, so that whoever looks for a name comes to a free one soon.
  [[nodiscard]] std::size_t Limit() const { return slots_.size() / 4 * 3; }

  // Of the name, or of the free slot that it would take.
  template <typename IsName>
  [[nodiscard]] std::size_t PlaceOf(std::uint32_t hash, const IsName& is_name) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = hash & mask;
    while (slots_[place] != kAbsent && !is_name(slots_[place])) place = (place + 1) & mask;
    return place;
  }

  template <typename HashOf>
  void Grow(std::size_t names, const HashOf& hash_of) {
    std::size_t size = 8;
    while (size / 4 * 3 < names) size *= 2;
    std::vector<std::uint32_t> old(size, kAbsent);
    old.swap(slots_);
    for (const std::uint32_t number : old) {
      if (number == kAbsent) continue;
      slots_[PlaceOf(hash_of(number), [](std::uint32_t) { return false; })] = number;
    }
  }

  std::vector<std::uint32_t> slots_;  // numbers; as many as a power of two
  std::size_t count_ = 0;
};

// Values by name. Names are borrowed; nothing is taken out again.
template <typename Value>
class NameMap {
 public:
  // Null where the name has none. Valid until the next name is added.
  [[nodiscard]] const Value* Find(std::string_view name) const {
    const std::uint32_t hash = ShortHashOf(name);
    const std::uint32_t number = index_.Find(hash, IsName(name, hash));
    return number == NameIndex::kAbsent ? nullptr : &entries_[number].value;
  }

  // The name's value, which is made where it has none. Valid until the next name is added.
  Value& operator[](std::string_view name) {
    if (entries_.size() == entries_.capacity()) entries_.reserve(entries_.size() * 2 + 4);
    const std::uint32_t hash = ShortHashOf(name);
    const auto next = static_cast<std::uint32_t>(entries_.size());
    const std::uint32_t number = index_.FindOrAdd(hash, next, IsName(name, hash), HashOfEntry());
    if (number == next) entries_.push_back({name, hash, Value()});
    return entries_[number].value;
  }

  void Reserve(std::size_t names) {
    entries_.reserve(names);
    index_.Reserve(names, HashOfEntry());
  }

 private:
  struct Entry {
    std::string_view name;
    std::uint32_t hash;
    Value value;
  };

  [[nodiscard]] auto IsName(std::string_view name, std::uint32_t hash) const {
    return [this, name, hash](std::uint32_t number) {
      return entries_[number].hash == hash && entries_[number].name == name;
    };
  }
  [[nodiscard]] auto HashOfEntry() const {
    return [this](std::uint32_t number) { return entries_[number].hash; };
  }

  std::vector<Entry> entries_;
  NameIndex index_;
};

}  // namespace devlink::base
