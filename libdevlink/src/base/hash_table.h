// SPDX-License-Identifier: Apache-2.0
//
// Abseil's hash tables, sound where memory runs out. A table of Abseil's whose allocation, or whose
// element's constructor, has thrown cannot even be destroyed: it counts the new room, or the
// element, as if it were there. So room is made in a table of its own, which is given up where
// that fails, and what may throw is made before the table hears of it.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace devlink::base {

// What maps and sets share. Functions that add elements and are not declared here or below are
// those of Abseil, and are not to be used.
template <typename Table>
class SoundTable : public Table {
 public:
  using Key = typename Table::key_type;
  using Element = typename Table::value_type;
  using Place = typename Table::iterator;
  using Hash = typename Table::hasher;
  using Equal = typename Table::key_equal;

  SoundTable() = default;
  SoundTable(const Hash& hash, const Equal& equal) : Table(0, hash, equal) {}
  SoundTable(const SoundTable& other) : Table(0, other.hash_function(), other.key_eq()) {
    Copy(other);
  }
  SoundTable(SoundTable&& other) noexcept = default;
  SoundTable& operator=(const SoundTable& other) {
    SoundTable copy(other);
    return *this = std::move(copy);
  }
  SoundTable& operator=(SoundTable&& other) noexcept = default;
  ~SoundTable() = default;

  void reserve(std::size_t count) {
    if (count > Limit()) Grow(count);
  }

  // Most tables of a small link are empty, and nothing need be hashed to find nothing in them.
  template <typename K = Key>
  [[nodiscard]] Place find(const K& key) {
    return Table::empty() ? Table::end() : Table::find(key);
  }
  template <typename K = Key>
  [[nodiscard]] typename Table::const_iterator find(const K& key) const {
    return Table::empty() ? Table::end() : Table::find(key);
  }
  template <typename K = Key>
  [[nodiscard]] bool contains(const K& key) const {
    return !Table::empty() && Table::contains(key);
  }

  // An erased element may keep its room until the table grows.
  void erase(Place place) {
    ++erased_;
    Table::erase(place);
  }
  std::size_t erase(const Key& key) {
    const Place place = Table::find(key);
    if (place == Table::end()) return 0;
    erase(place);
    return 1;
  }

 protected:
  void MakeRoom() {
    const std::size_t limit = Limit();
    if (Table::size() + erased_ < limit) return;
    // The room of a few erased elements is not worth a new table: it would be full again soon.
    Grow(erased_ * 4 < limit ? limit + 1 : Table::size() + 1);
  }

 private:
  // How many elements fit; Abseil takes no fewer.
  [[nodiscard]] std::size_t Limit() const {
    const std::size_t capacity = Table::capacity();
    return capacity == 7 ? 6 : capacity - capacity / 8;
  }

  void Grow(std::size_t count) {
    union Shell {  // is not destroyed where `reserve` throws: it owns nothing then
      Table table;
      Shell(const Hash& hash, const Equal& equal) : table(0, hash, equal) {}
      ~Shell() {}
    };
    Shell grown(Table::hash_function(), Table::key_eq());
    grown.table.reserve(count);
    Table& from = *this;
    for (Place place = from.begin(); place != from.end();) {
      if constexpr (std::is_nothrow_copy_constructible_v<Element>) {
        grown.table.insert(*place++);
      } else {
        grown.table.insert(from.extract(place++));
      }
    }
    from = std::move(grown.table);
    std::destroy_at(&grown.table);
    erased_ = 0;
  }

  void Copy(const SoundTable& other) {
    reserve(other.size());
    for (const Element& element : other) {
      if constexpr (requires { typename Table::mapped_type; }) {
        // To move a pair with a constant key copies the key, within the table.
        Key key(element.first);
        typename Table::mapped_type value(element.second);
        Table::try_emplace(std::move(key), std::move(value));
      } else {
        Element copy(element);
        Table::insert(std::move(copy));
      }
    }
  }

  std::size_t erased_ = 0;
};

template <typename Key, typename Value,
          typename Hash = typename absl::flat_hash_map<Key, Value>::hasher,
          typename Equal = typename absl::flat_hash_map<Key, Value>::key_equal>
class HashMap : public SoundTable<absl::flat_hash_map<Key, Value, Hash, Equal>> {
  using Sound = SoundTable<absl::flat_hash_map<Key, Value, Hash, Equal>>;
  using Table = absl::flat_hash_map<Key, Value, Hash, Equal>;

 public:
  using Place = typename Table::iterator;
  using Sound::Sound;

  template <typename K, typename... Args>
  std::pair<Place, bool> try_emplace(K&& key, Args&&... args) {
    static_assert(std::is_nothrow_move_constructible_v<Key> &&
                  std::is_nothrow_move_constructible_v<Value>);
    Sound::MakeRoom();
    if constexpr (std::is_nothrow_constructible_v<Key, K&&> &&
                  std::is_nothrow_constructible_v<Value, Args&&...>) {
      return Table::try_emplace(std::forward<K>(key), std::forward<Args>(args)...);
    } else {
      if (const Place place = Table::find(key); place != Table::end()) return {place, false};
      Key new_key(std::forward<K>(key));
      Value new_value(std::forward<Args>(args)...);
      return Table::try_emplace(std::move(new_key), std::move(new_value));
    }
  }
  template <typename K, typename V>
  std::pair<Place, bool> emplace(K&& key, V&& value) {
    return try_emplace(std::forward<K>(key), std::forward<V>(value));
  }
  template <typename K = Key>
  Value& operator[](K&& key) {
    return try_emplace(std::forward<K>(key)).first->second;
  }
  void insert() = delete;
  void insert_or_assign() = delete;
};

template <typename Key, typename Hash = typename absl::flat_hash_set<Key>::hasher,
          typename Equal = typename absl::flat_hash_set<Key>::key_equal>
class HashSet : public SoundTable<absl::flat_hash_set<Key, Hash, Equal>> {
  using Sound = SoundTable<absl::flat_hash_set<Key, Hash, Equal>>;
  using Table = absl::flat_hash_set<Key, Hash, Equal>;

 public:
  using Place = typename Table::iterator;
  using Sound::Sound;
  HashSet() = default;
  template <typename Iterator>
  HashSet(Iterator begin, Iterator end) {
    for (; begin != end; ++begin) insert(*begin);
  }

  template <typename K = Key>
  std::pair<Place, bool> insert(K&& key) {
    static_assert(std::is_nothrow_move_constructible_v<Key>);
    Sound::MakeRoom();
    if constexpr (std::is_nothrow_constructible_v<Key, K&&>) {
      return Table::emplace(std::forward<K>(key));
    } else {
      if (const Place place = Table::find(key); place != Table::end()) return {place, false};
      Key new_key(std::forward<K>(key));
      return Table::emplace(std::move(new_key));
    }
  }
  template <typename... Args>
  std::pair<Place, bool> emplace(Args&&... args) {
    return insert(Key(std::forward<Args>(args)...));
  }
};

}  // namespace devlink::base
