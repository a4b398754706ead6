// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/readable_names.h"
#include "devlink-inspect/report.h"

namespace devlink::inspect {

// Writes one JSON document (docs/inspect.md) piece by piece: a row of a table on a line, so that
// tools that go by lines find their way, too. Valid for any bytes.
class JsonReport final : public Report {
 public:
  using Out = std::function<void(std::string_view)>;
  JsonReport(Out out, base::ReadableNames& names);

  void BeginItem(const ItemHead& head) override;
  void Headline(std::string_view) override {}
  void Field(const Column& column, const Cell& value) override;
  void BeginTable(const TableSpec& spec) override;
  void Row(std::span<const Cell> cells) override;
  void EndTable() override;
  void EndItem() override;
  void Contents(std::span<const std::uint8_t>, bool) override {}
  // Ends the document.
  void Finish();

 private:
  void TellProblem(std::string_view text) override { items_.back().problems.emplace_back(text); }

  struct Item {
    bool has_members = false;
    std::vector<std::string> problems;
  };
  // The start of a line at a depth.
  [[nodiscard]] std::string Indent(std::size_t more) const;
  [[nodiscard]] std::string Value(const Cell& value) const;
  // `"key": value`, and the readable form of a name behind it.
  void Append(const Column& column, const Cell& value, std::string& out);

  Out out_;
  base::ReadableNames& names_;
  std::vector<Item> items_;
  bool any_file_ = false;
  std::vector<Column> columns_;
  bool any_row_ = false;
};

}  // namespace devlink::inspect
