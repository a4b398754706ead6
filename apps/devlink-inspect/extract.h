// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/descriptor.h"
#include "devlink-inspect/report.h"

namespace devlink::inspect {

// How a file for an item is called: the name of the input and the item's address, with nothing in
// it that means something to a file system or to a shell, at most 200 characters.
std::string FileNameFor(std::string_view input, std::string_view address);

struct ExtractOptions {
  // `all`: every piece of device code. Otherwise an item by its address, or by the last part of it.
  std::string member;
  std::string directory;  // made where it is missing
  bool force = false;     // replaces what is there
};

// Takes items out of files: a report that writes what it is told. What went wrong is a problem.
class Extractor final : public Report {
 public:
  // Told the name of each file that was written, and what went wrong.
  using Say = std::function<void(std::string_view)>;
  Extractor(ExtractOptions options, Say written, Say wrong);

  // NotFound, Unavailable and so on where there is no such directory and none can be made.
  absl::Status Open();
  // Items of this file follow.
  void BeginFile(std::string_view path);
  // Whether the file had anything that was asked for; a problem where it had not.
  void EndFile();

  void BeginItem(const ItemHead& head) override { addresses_.emplace_back(head.address); }
  void Headline(std::string_view) override {}
  void Field(const Column&, const Cell&) override {}
  void BeginTable(const TableSpec&) override {}
  void Row(std::span<const Cell>) override {}
  void EndTable() override {}
  void EndItem() override { addresses_.pop_back(); }
  void Contents(std::span<const std::uint8_t> bytes, bool is_code) override;

 private:
  void TellProblem(std::string_view text) override;
  [[nodiscard]] bool IsWanted(std::string_view address, bool is_code) const;
  // 0, or what errno says.
  [[nodiscard]] int Write(const std::string& name, std::span<const std::uint8_t> bytes) const;

  ExtractOptions options_;
  Say written_;
  Say wrong_;
  base::Descriptor directory_;
  std::string file_;
  std::vector<std::string> addresses_;
  std::set<std::string> names_;  // of what was written
  bool any_ = false;
};

}  // namespace devlink::inspect
