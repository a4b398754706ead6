// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace devlink::internal {

// The merge sort that nvlink runs on its linked lists. It is not stable, and where two elements
// compare equal their order in the output is what this order of splitting and merging makes it:
// elements go in turn onto two lists, each last in first out; `takes_left(l, r)` decides each step
// of the merge. Found by linking permutations of equal shared variables.
template <typename T, typename TakesLeft>
std::vector<T> ListSort(const std::vector<T>& list, const TakesLeft& takes_left) {
  if (list.size() < 2) return list;
  std::vector<T> left;
  std::vector<T> right;
  for (std::size_t i = list.size(); i-- > 0;) (i % 2 == 0 ? left : right).push_back(list[i]);
  left = ListSort(left, takes_left);
  right = ListSort(right, takes_left);
  std::vector<T> out;
  out.reserve(list.size());
  std::size_t l = 0;
  std::size_t r = 0;
  while (l < left.size() && r < right.size()) {
    out.push_back(takes_left(left[l], right[r]) ? left[l++] : right[r++]);
  }
  out.insert(out.end(), left.begin() + static_cast<std::ptrdiff_t>(l), left.end());
  out.insert(out.end(), right.begin() + static_cast<std::ptrdiff_t>(r), right.end());
  return out;
}

}  // namespace devlink::internal
