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

// Writes one page for a browser, with nothing in it that has to be loaded, piece by piece: what a
// text shows, all rows of it, as JSON that the page's script makes tables of. Names are shown by
// base::VisibleText; none becomes markup or script.
class HtmlReport final : public Report {
 public:
  using Out = std::function<void(std::string_view)>;
  HtmlReport(Out out, base::ReadableNames& names, std::string_view title);

  void BeginItem(const ItemHead& head) override;
  void Headline(std::string_view text) override;
  void Field(const Column& column, const Cell& value) override;
  void BeginTable(const TableSpec& spec) override;
  void Row(std::span<const Cell> cells) override;
  void EndTable() override;
  void EndItem() override;
  void Contents(std::span<const std::uint8_t>, bool) override {}
  // Ends the page.
  void Finish();

 private:
  void TellProblem(std::string_view text) override { items_.back().problems.emplace_back(text); }

  // Fields, headline and problems wait for the item's end: they may come between tables.
  struct Item {
    bool has_tables = false;
    bool has_members = false;
    std::string headline;
    std::string fields;
    std::vector<std::string> problems;
  };
  [[nodiscard]] std::string Value(const Column& column, const Cell& value);
  void Write(std::string_view json);

  Out out_;
  base::ReadableNames& names_;
  std::string tail_;  // of the page
  std::vector<Item> items_;
  bool any_file_ = false;
  std::vector<Column> columns_;
  bool any_row_ = false;
};

}  // namespace devlink::inspect
