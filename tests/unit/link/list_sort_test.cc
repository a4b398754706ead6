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

// Variables of a file that one entry alone uses go through two sorts: with all variables of files,
// where equal ones take the right list's first, and with those of the entry, where they take the
// left list's.
std::string SortedTwice(std::size_t count) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < count; ++i) items.push_back({1, static_cast<char>('a' + i)});
  items = internal::ListSort(items, [](const Item& l, const Item& r) { return l.key > r.key; });
  items = internal::ListSort(items, [](const Item& l, const Item& r) { return l.key <= r.key; });
  std::string out;
  for (const Item& item : items) out += item.name;
  return out;
}

// Read off nvlink's outputs: n equal variables, in the order in which they were laid out.
TEST_CASE("Equal elements come out as from nvlink's sorts", "[link]") {
  CHECK(SortedTwice(0).empty());
  CHECK(SortedTwice(1) == "a");
  CHECK(SortedTwice(2) == "ba");
  CHECK(SortedTwice(3) == "cba");
  CHECK(SortedTwice(4) == "abcd");
  CHECK(SortedTwice(5) == "baced");
  CHECK(SortedTwice(8) == "hgfedcba");
  CHECK(SortedTwice(16) == "abcdefghijklmnop");
  CHECK(SortedTwice(17) == "fagehcbidkjqlonmp");
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
