// SPDX-License-Identifier: Apache-2.0
//
// What is shown of a file, told to whoever renders it: items within items, each with fields and
// tables. Text and JSON are two renderings of the same calls, so that neither knows more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace devlink::inspect {

// A name of a program as compilers mangle it, to be shown as people write it.
struct MangledName {
  std::string_view text;
};

// Nothing; text from wherever; a name; numbers; a list of names. What is borrowed lives until the
// call returns.
using Cell = std::variant<std::monostate, std::string, MangledName, std::uint64_t, std::int64_t,
                          bool, std::vector<std::string_view>, std::vector<std::uint64_t>>;

inline Cell Text(std::string_view text) { return std::string(text); }
inline Cell TextOrNothing(std::string_view text) { return text.empty() ? Cell{} : Text(text); }

enum class Shown : std::uint8_t { kEverywhere, kInText, kInJson };

// `key` is the name in JSON and stays as it is; `title` heads the column in a text.
struct Column {
  std::string_view key;
  std::string_view title;
  Shown shown = Shown::kEverywhere;
  bool hex = false;  // numbers in texts
  // A text shows it once, above the rows that have it in common.
  bool group = false;
};

struct TableSpec {
  std::string_view key;
  std::string_view title;
  std::span<const Column> columns;
  std::size_t most_rows = 0;  // of a text; 0: all
  // Where a text is to say that there are no rows.
  bool say_if_empty = false;
};

struct ItemHead {
  std::string_view name;  // of the file as given, of a member as its container calls it
  // How --extract calls it: the names from the file downwards with colons between them; empty for
  // the file itself.
  std::string_view address;
  std::string_view kind;  // stable: `cubin`, `fatbin`
  std::uint64_t size = 0;
};

// Calls come in the order: BeginItem; fields and tables; items within; EndItem. Headline is called
// once before the items within, Problem at any time within an item.
class Report {
 public:
  virtual ~Report() = default;
  virtual void BeginItem(const ItemHead& head) = 0;
  // One line about the item for people: `relocatable, sm_90, CUDA 13.0`.
  virtual void Headline(std::string_view text) = 0;
  virtual void Field(const Column& column, const Cell& value) = 0;
  virtual void BeginTable(const TableSpec& spec) = 0;
  // As many cells as the table has columns.
  virtual void Row(std::span<const Cell> cells) = 0;
  virtual void EndTable() = 0;
  // The item, or a part of it, cannot be read.
  void Problem(std::string_view text) {
    ++problems_;
    TellProblem(text);
  }
  [[nodiscard]] std::uint64_t problems() const { return problems_; }
  virtual void EndItem() = 0;
  // The bytes of the item that was begun last. `is_code`: device code as compilers make it, with no
  // further items in it.
  virtual void Contents(std::span<const std::uint8_t> bytes, bool is_code) = 0;

 private:
  virtual void TellProblem(std::string_view text) = 0;

  std::uint64_t problems_ = 0;
};

// A row of a table with these columns, no cell forgotten.
template <std::size_t kCount, typename... Cells>
void AddRow(Report& report, const std::array<Column, kCount>&, Cells&&... cells) {
  static_assert(sizeof...(Cells) == kCount);
  report.Row(std::array<Cell, kCount>{Cell(std::forward<Cells>(cells))...});
}

}  // namespace devlink::inspect
