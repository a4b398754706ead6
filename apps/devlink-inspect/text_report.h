// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/readable_names.h"
#include "devlink-inspect/report.h"

namespace devlink::inspect {

// Renders for people: items indented, tables with aligned columns. What comes from files is shown
// by base::VisibleText.
class TextReport final : public Report {
 public:
  using Out = std::function<void(std::string_view)>;
  TextReport(Out out, base::ReadableNames& names) : out_(std::move(out)), names_(names) {}

  void BeginItem(const ItemHead& head) override;
  void Headline(std::string_view text) override;
  void Field(const Column& column, const Cell& value) override;
  void BeginTable(const TableSpec& spec) override;
  void Row(std::span<const Cell> cells) override;
  void EndTable() override;
  void EndItem() override;
  void Contents(std::span<const std::uint8_t>, bool) override {}

 private:
  void TellProblem(std::string_view text) override;

  using Texts = std::vector<std::string>;
  [[nodiscard]] std::string Indent() const { return std::string(2 * depth_, ' '); }
  [[nodiscard]] std::string Text(const Column& column, const Cell& value);
  // Widths come from the first rows, which wait for it; later ones are printed as they come.
  void PrintWaiting();
  void PrintRow(const Texts& row);
  [[nodiscard]] bool IsRightAligned(std::size_t column) const {
    return has_number_[column] && !has_text_[column];
  }
  void Line(std::string_view text);

  Out out_;
  base::ReadableNames& names_;
  std::size_t depth_ = 0;
  bool any_file_ = false;
  bool is_headed_ = true;      // the item's line is printed
  std::string waiting_lines_;  // and come behind it
  // The table that is open.
  TableSpec spec_;
  std::vector<Column> columns_;  // those that a text shows
  std::vector<std::size_t> widths_;
  std::vector<bool> has_number_;
  std::vector<bool> has_text_;
  std::vector<Texts> waiting_;
  std::vector<std::string> groups_;  // the last row's
  std::size_t rows_ = 0;
  bool widths_known_ = false;
};

}  // namespace devlink::inspect
