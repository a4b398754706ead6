// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace devlink::base {

// Number of single-character changes between two names; `limit` where there are at least so many.
// Takes time in proportion to the length times the limit, and much less where names differ early.
inline std::size_t EditDistance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() >= limit) return limit;
  // row[j] is the distance between the first i characters of `a` and the first j of `b`. Where i
  // and j are `limit` apart it cannot be less than that, so only the places near i == j are filled
  // in.
  std::vector<std::size_t> row(b.size() + 1, limit);
  for (std::size_t j = 0; j <= b.size() && j < limit; ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const std::size_t begin = i > limit ? i - limit : 1;
    const std::size_t end = std::min(b.size(), i + limit - 1);
    std::size_t diagonal = row[begin - 1];
    row[begin - 1] = begin == 1 ? std::min(i, limit) : limit;
    std::size_t least = row[begin - 1];
    for (std::size_t j = begin; j <= end; ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
      least = std::min(least, row[j]);
    }
    if (least >= limit) return limit;
  }
  return std::min(row[b.size()], limit);
}

}  // namespace devlink::base
