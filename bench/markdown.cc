// SPDX-License-Identifier: Apache-2.0
#include "markdown.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace devlink::bench {

std::string Format(const char* format, ...) {
  std::array<char, 512> buffer{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer.data(), buffer.size(), format, arguments);
  va_end(arguments);
  return buffer.data();
}

std::string ThreeDigits(double number) {
  if (number == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(std::abs(number)))) + 1;
  return Format("%.*f", std::clamp(3 - before, 0, 6), number);
}

std::string MarkdownTable::Text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 3);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < std::min(columns, row.size()); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string cell = i < rows_[row].size() ? rows_[row][i] : "";
      const std::string space(widths[i] - cell.size(), ' ');
      out += "| " + (i == 0 ? cell + space : space + cell) + ' ';
    }
    out += "|\n";
    if (row != 0) continue;
    for (std::size_t i = 0; i < columns; ++i) {
      out += "|-" + std::string(widths[i], '-') + (i == 0 ? "-" : ":");
    }
    out += "|\n";
  }
  return out;
}

}  // namespace devlink::bench
