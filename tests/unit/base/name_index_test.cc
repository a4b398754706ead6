// SPDX-License-Identifier: Apache-2.0
#include "base/name_index.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

TEST_CASE("Names of one hash are told apart", "[name_index]") {
  base::NameIndex index;
  const auto is = [](std::uint32_t wanted) {
    return [wanted](std::uint32_t number) { return number == wanted; };
  };
  CHECK(index.Find(5, is(0)) == base::NameIndex::kAbsent);
  const auto hash_of = [](std::uint32_t) { return 5U; };
  for (std::uint32_t i = 0; i < 100; ++i) {
    CHECK(index.Find(5, is(i)) == base::NameIndex::kAbsent);
    CHECK(index.FindOrAdd(5, i, is(i), hash_of) == i);
  }
  for (std::uint32_t i = 0; i < 100; ++i) CHECK(index.FindOrAdd(5, 1000, is(i), hash_of) == i);
  CHECK(index.Find(6, is(1000)) == base::NameIndex::kAbsent);
}

TEST_CASE("A map of names keeps what a std::map keeps", "[name_index]") {
  std::mt19937 random(1);
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) names.push_back("name" + std::to_string(i));
  for (const bool reserves : {false, true}) {
    base::NameMap<std::uint32_t> map;
    std::map<std::string, std::uint32_t> expected;
    if (reserves) map.Reserve(names.size());
    CHECK(map.Find("") == nullptr);
    for (std::uint32_t i = 0; i < 5000; ++i) {
      const std::string& name = names[random() % names.size()];
      map[name] += i;
      expected[name] += i;
    }
    for (const std::string& name : names) {
      const std::uint32_t* found = map.Find(name);
      const auto wanted = expected.find(name);
      REQUIRE((found != nullptr) == (wanted != expected.end()));
      if (found != nullptr) CHECK(*found == wanted->second);
    }
  }
}

}  // namespace
}  // namespace devlink::testing
