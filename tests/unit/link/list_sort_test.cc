// SPDX-License-Identifier: Apache-2.0
#include "link/list_sort.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

struct Item {
  int key = 0;
  char name = 0;
};

std::string Sorted(const std::vector<int>& keys) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    items.push_back({keys[i], static_cast<char>('a' + i)});
  }
  std::string out;
  for (const Item& item : internal::ListSort(
           items, [](const Item& l, const Item& r) { return l.key < r.key; })) {
    out += item.name;
  }
  return out;
}

// Read off nvlink's outputs: n equal variables, in the order in which they were laid out.
TEST_CASE("Equal elements come out as from nvlink's sort", "[link]") {
  const auto equal = [](std::size_t n) { return Sorted(std::vector<int>(n, 1)); };
  CHECK(equal(0).empty());
  CHECK(equal(1) == "a");
  CHECK(equal(2) == "ba");
  CHECK(equal(3) == "cba");
  CHECK(equal(4) == "abcd");
  CHECK(equal(5) == "baced");
  CHECK(equal(8) == "hgfedcba");
  CHECK(equal(16) == "abcdefghijklmnop");
  CHECK(equal(17) == "fagehcbidkjqlonmp");
}

TEST_CASE("Different keys are sorted", "[link]") {
  std::mt19937 random(7);
  for (std::size_t n = 0; n < 200; ++n) {
    std::vector<int> keys;
    for (std::size_t i = 0; i < n; ++i) keys.push_back(static_cast<int>(random() % 50));
    const auto sorted = internal::ListSort(keys, [](int l, int r) { return l <= r; });
    auto expected = keys;
    std::sort(expected.begin(), expected.end());
    CHECK(sorted == expected);
  }
}

}  // namespace
}  // namespace devlink::testing
