// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/text_report.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/visible_text.h"

namespace devlink::inspect {

namespace {

// Rows that are looked at before the first one is printed.
constexpr std::size_t kRowsForWidths = 512;
// A column is not made wider than this for a few long texts.
constexpr std::size_t kWidestColumn = 40;

bool IsNumber(const Cell& cell) {
  return std::holds_alternative<std::uint64_t>(cell) || std::holds_alternative<std::int64_t>(cell);
}

std::string Number(std::uint64_t value, bool hex) {
  return hex ? absl::StrCat("0x", absl::Hex(value)) : std::to_string(value);
}

}  // namespace

std::string TextReport::Text(const Column& column, const Cell& value) {
  return std::visit(
      [&](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "-";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return base::VisibleText(v);
        } else if constexpr (std::is_same_v<T, MangledName>) {
          return base::VisibleText(names_.Readable(v.text));
        } else if constexpr (std::is_same_v<T, bool>) {
          return v ? "yes" : "no";
        } else if constexpr (std::is_same_v<T, std::vector<std::string_view>>) {
          std::string out;
          for (const std::string_view name : v) {
            if (!out.empty()) out += ", ";
            out += base::VisibleText(names_.Readable(name));
          }
          return out;
        } else if constexpr (std::is_same_v<T, std::vector<std::uint64_t>>) {
          std::string out;
          for (const std::uint64_t n : v)
            absl::StrAppend(&out, out.empty() ? "" : " ", Number(n, column.hex));
          return out;
        } else if constexpr (std::is_same_v<T, std::uint64_t>) {
          return Number(v, column.hex);
        } else {
          return std::to_string(v);
        }
      },
      value);
}

void TextReport::Line(std::string_view text) {
  std::string line = Indent();
  line += text;
  line.resize(line.find_last_not_of(' ') + 1);
  line += '\n';
  if (is_headed_) {
    out_(line);
  } else {
    waiting_lines_ += line;
  }
}

void TextReport::BeginItem(const ItemHead& head) {
  if (depth_ == 0 && any_file_) out_("\n");
  any_file_ = true;
  out_(Indent() + base::VisibleText(head.name) + ": ");
  is_headed_ = false;
  ++depth_;
}

void TextReport::Headline(std::string_view text) {
  out_(base::VisibleText(text) + "\n" + waiting_lines_);
  waiting_lines_.clear();
  is_headed_ = true;
}

void TextReport::Field(const Column& column, const Cell& value) {
  if (column.shown == Shown::kInJson || std::holds_alternative<std::monostate>(value)) return;
  Line(absl::StrCat(std::string(column.title), ": ", Text(column, value)));
}

void TextReport::BeginTable(const TableSpec& spec) {
  spec_ = spec;
  columns_.clear();
  for (const Column& column : spec.columns) {
    if (column.shown != Shown::kInJson) columns_.push_back(column);
  }
  waiting_.clear();
  groups_.assign(columns_.size(), {});
  has_number_.assign(columns_.size(), false);
  has_text_.assign(columns_.size(), false);
  rows_ = 0;
  widths_known_ = false;
}

void TextReport::Row(std::span<const Cell> cells) {
  ++rows_;
  if (spec_.most_rows != 0 && rows_ > spec_.most_rows) return;
  Texts row;
  for (std::size_t i = 0; i < spec_.columns.size() && i < cells.size(); ++i) {
    if (spec_.columns[i].shown == Shown::kInJson) continue;
    if (!widths_known_) {
      has_number_[row.size()] = has_number_[row.size()] || IsNumber(cells[i]);
      has_text_[row.size()] =
          has_text_[row.size()] ||
          (!IsNumber(cells[i]) && !std::holds_alternative<std::monostate>(cells[i]));
    }
    row.push_back(Text(spec_.columns[i], cells[i]));
  }
  if (widths_known_) return PrintRow(row);
  waiting_.push_back(std::move(row));
  if (waiting_.size() == kRowsForWidths) PrintWaiting();
}

void TextReport::PrintWaiting() {
  widths_known_ = true;
  widths_.clear();
  Texts titles;
  for (const Column& column : columns_) {
    titles.emplace_back(column.group ? "" : column.title);
    widths_.push_back(column.title.size());
  }
  for (const Texts& row : waiting_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths_[i] = std::max(widths_[i], std::min(row[i].size(), kWidestColumn));
    }
  }
  Line(spec_.title);
  if (std::ranges::any_of(titles, [](const std::string& t) { return !t.empty(); })) {
    PrintRow(titles);
  }
  for (const Texts& row : waiting_) PrintRow(row);
  waiting_.clear();
}

void TextReport::PrintRow(const Texts& row) {
  std::string line = "  ";
  bool any = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (columns_[i].group) {
      line += "  ";
      if (!row[i].empty() && row[i] != groups_[i]) Line("  " + row[i]);
      if (!row[i].empty()) groups_[i] = row[i];
      continue;
    }
    const std::size_t padding = row[i].size() < widths_[i] ? widths_[i] - row[i].size() : 0;
    if (any) line += "  ";
    any = true;
    if (IsRightAligned(i)) line.append(padding, ' ');
    line += row[i];
    if (!IsRightAligned(i)) line.append(padding, ' ');
  }
  Line(line);
}

void TextReport::EndTable() {
  if (rows_ == 0) {
    if (spec_.say_if_empty) Line(absl::StrCat("no ", std::string(spec_.title)));
    return;
  }
  if (!widths_known_) PrintWaiting();
  if (spec_.most_rows != 0 && rows_ > spec_.most_rows) {
    Line(absl::StrCat("    and ", rows_ - spec_.most_rows, " more"));
  }
}

void TextReport::TellProblem(std::string_view text) { Line("problem: " + base::VisibleText(text)); }

void TextReport::EndItem() { --depth_; }

}  // namespace devlink::inspect
