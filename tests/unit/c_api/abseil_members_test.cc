// SPDX-License-Identifier: Apache-2.0
//
// What stands in for members of Abseil's archives in libdevlink.so.0: tables and statuses are what
// they are with the originals. The program has the former in it.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

// Few keys, so that tables are full of what was deleted and are cleaned up in place.
TEST_CASE("Tables keep what was put in, through erasing and cleaning up", "[c_api]") {
  std::mt19937 random(1);
  for (const std::uint32_t keys : {3U, 7U, 14U, 30U, 200U, 5000U}) {
    absl::flat_hash_map<std::uint32_t, int> table;
    std::unordered_map<std::uint32_t, int> expected;
    for (int step = 0; step < 200'000; ++step) {
      const auto key = static_cast<std::uint32_t>(random() % keys) * 0x9e3779b9U;
      if (random() % 2 == 0) {
        table[key] = step;
        expected[key] = step;
      } else {
        REQUIRE(table.erase(key) == expected.erase(key));
      }
    }
    CAPTURE(keys);
    REQUIRE(table.size() == expected.size());
    for (const auto& [key, value] : expected) {
      const auto found = table.find(key);
      REQUIRE(found != table.end());
      CHECK(found->second == value);
    }
    std::size_t seen = 0;
    for (const auto& entry : table) seen += expected.contains(entry.first) ? 1 : 0;
    CHECK(seen == expected.size());
  }
}

TEST_CASE("A table without elements ends every search", "[c_api]") {
  const absl::flat_hash_map<std::string, int> table;
  CHECK(table.find("a") == table.end());
  CHECK(table.begin() == table.end());
}

TEST_CASE("Cords carry what a status has besides", "[c_api]") {
  absl::Status status = absl::NotFoundError("why");
  const std::string large(100'000, 'x');
  for (int i = 0; i < 100; ++i) {
    absl::Cord cord{absl::string_view(large)};
    cord.Append(absl::string_view(std::to_string(i)));
    status.SetPayload(std::to_string(i), cord);
  }
  const auto payload = status.GetPayload("42");
  REQUIRE(payload.has_value());
  CHECK(std::string(*payload) == large + "42");
}

}  // namespace
}  // namespace devlink::testing
