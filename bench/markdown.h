// SPDX-License-Identifier: Apache-2.0
//
// Tables that people read in a terminal and that pages take over as they are.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace devlink::bench {

// What std::snprintf makes of it.
[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...);

// A number with three digits that count, or all in front of the point where those are more: 0.0123,
// 1.23, 12.3, 1234.
std::string ThreeDigits(double number);

// A table with a head; the first column is words, the others are numbers.
class MarkdownTable {
 public:
  explicit MarkdownTable(std::vector<std::string> head) { rows_.push_back(std::move(head)); }

  // As many cells as the head has; those that lack are empty.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace devlink::bench
