// SPDX-License-Identifier: Apache-2.0
#include "base/hash_table.h"

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

// Throws when it is copied for the n-th time.
int copies_left = -1;

struct Fragile {
  Fragile() = default;
  explicit Fragile(std::string is) : text(std::move(is)) {}
  Fragile(const Fragile& other) : text(other.text) {
    if (copies_left >= 0 && copies_left-- == 0) throw std::runtime_error("copied");
  }
  Fragile(Fragile&&) noexcept = default;
  Fragile& operator=(const Fragile&) = delete;
  Fragile& operator=(Fragile&&) noexcept = default;
  friend bool operator==(const Fragile& some, const Fragile& other) {
    return some.text == other.text;
  }
  std::string text;
};

TEST_CASE("A map keeps what a std::map keeps", "[hash_table]") {
  std::mt19937 random(1);
  base::HashMap<std::uint32_t, std::string> map;
  std::map<std::uint32_t, std::string> expected;
  for (int i = 0; i < 5000; ++i) {
    const std::uint32_t key = random() % 700;
    if (random() % 3 == 0) {
      CHECK(map.erase(key) == expected.erase(key));
    } else {
      const std::string value = "a value that needs memory of its own " + std::to_string(i);
      CHECK(map.try_emplace(key, value).second == expected.try_emplace(key, value).second);
      map[key] += "x";
      expected[key] += "x";
    }
  }
  CHECK((std::map<std::uint32_t, std::string>(map.begin(), map.end()) == expected));
  const auto copy = map;
  map = {};
  CHECK(map.empty());
  CHECK((std::map<std::uint32_t, std::string>(copy.begin(), copy.end()) == expected));
}

TEST_CASE("A set keeps what a std::set keeps", "[hash_table]") {
  std::mt19937 random(2);
  base::HashSet<std::string> set;
  std::set<std::string> expected;
  set.reserve(100);
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "a key that needs memory of its own " + std::to_string(random() % 900);
    CHECK(set.insert(key).second == expected.insert(key).second);
  }
  CHECK((std::set<std::string>(set.begin(), set.end()) == expected));
}

struct CountingHash {
  std::size_t operator()(std::uint32_t key) const {
    ++hashes;
    return key * 0x9e3779b97f4a7c15U;
  }
  static inline std::size_t hashes = 0;
};

TEST_CASE("A table that is nearly full takes turns of erasing and adding in linear time",
          "[hash_table]") {
  base::HashMap<std::uint32_t, std::uint32_t, CountingHash> map;
  std::uint32_t next = 0;
  while (next < 4096 || map.size() + 2 < map.capacity() - map.capacity() / 8) map[next++] = 0;
  constexpr std::uint32_t kTurns = 20'000;
  CountingHash::hashes = 0;
  for (std::uint32_t i = 0; i < kTurns; ++i) {
    map.erase(i);
    map[next++] = 0;
  }
  CHECK(CountingHash::hashes < 40 * kTurns);
  CHECK(map.capacity() < 8 * map.size());
}

TEST_CASE("A table is whole where an element could not be made", "[hash_table]") {
  base::HashMap<std::uint32_t, Fragile> map;
  const Fragile value("text");
  for (std::uint32_t i = 0; i < 100; ++i) {
    copies_left = i % 2 == 0 ? 0 : -1;
    if (i % 2 == 0) {
      CHECK_THROWS(map.try_emplace(i, value));
    } else {
      map.try_emplace(i, value);
    }
    CHECK(map.size() == (i + 1) / 2);
  }
  copies_left = 30;
  CHECK_THROWS(base::HashMap<std::uint32_t, Fragile>(map));
  copies_left = -1;
  for (const auto& [key, held] : map) CHECK((key % 2 == 1 && held.text == "text"));
}

struct FragileHash {
  std::size_t operator()(const Fragile& key) const { return std::hash<std::string>()(key.text); }
};
using FragileMap = base::HashMap<Fragile, Fragile, FragileHash, std::equal_to<Fragile>>;

TEST_CASE("A copy of a map is whole or not there, whatever cannot be copied", "[hash_table]") {
  FragileMap map;
  constexpr int kElements = 20;
  for (int i = 0; i < kElements; ++i) map.try_emplace(Fragile(std::to_string(i)), Fragile("value"));
  for (int copies = 0; copies < 2 * kElements; ++copies) {
    CAPTURE(copies);
    copies_left = copies;
    CHECK_THROWS(FragileMap(map));
  }
  copies_left = -1;
  CHECK(FragileMap(map).size() == kElements);
}

}  // namespace
}  // namespace devlink::testing
