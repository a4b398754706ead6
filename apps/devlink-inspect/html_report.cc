// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/html_report.h"

#include <span>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/visible_text.h"
#include "devlink-inspect/inspect_page.h"
#include "report/html_page.h"

namespace devlink::inspect {

namespace {

// Larger ones lose digits in a browser.
constexpr std::uint64_t kLargestNumber = std::uint64_t{1} << 53;

std::string Visible(std::string_view text) { return base::JsonString(base::VisibleText(text)); }

std::string Hex(std::uint64_t value) { return absl::StrCat("0x", absl::Hex(value)); }

}  // namespace

HtmlReport::HtmlReport(Out out, base::ReadableNames& names, std::string_view title)
    : out_(std::move(out)), names_(names) {
  internal::HtmlPageParts page =
      internal::FillPage({.title = title,
                          .kind = "devlink-inspect",
                          .instead = "devlink-inspect --all FILE shows the same",
                          .script = InspectPageScript()});
  out_(page.head);
  tail_ = std::move(page.tail);
  Write("{\"files\": [");
}

void HtmlReport::Write(std::string_view json) { out_(internal::ForScript(json)); }

std::string HtmlReport::Value(const Column& column, const Cell& value) {
  return std::visit(
      [&](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "null";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return Visible(v);
        } else if constexpr (std::is_same_v<T, MangledName>) {
          const std::string readable = names_.Readable(v.text);
          if (readable == v.text) return Visible(v.text);
          return base::Cat(
              {"{\"name\": ", Visible(v.text), ", \"readable\": ", Visible(readable), "}"});
        } else if constexpr (std::is_same_v<T, bool>) {
          return v ? "\"yes\"" : "\"no\"";
        } else if constexpr (std::is_same_v<T, std::vector<std::string_view>>) {
          std::string out;
          for (const std::string_view name : v) {
            out += base::Cat({out.empty() ? "" : ", ", names_.Readable(name)});
          }
          return Visible(out);
        } else if constexpr (std::is_same_v<T, std::vector<std::uint64_t>>) {
          std::string out;
          for (const std::uint64_t n : v) {
            out += base::Cat({out.empty() ? "" : " ", column.hex ? Hex(n) : std::to_string(n)});
          }
          return base::JsonString(out);
        } else if constexpr (std::is_same_v<T, std::uint64_t>) {
          if (column.hex) return base::JsonString(Hex(v));
          return v <= kLargestNumber ? std::to_string(v) : base::JsonString(std::to_string(v));
        } else {
          return std::to_string(v);
        }
      },
      value);
}

void HtmlReport::BeginItem(const ItemHead& head) {
  bool& any = items_.empty() ? any_file_ : items_.back().has_members;
  std::string out;
  if (any) {
    out += ",";
  } else if (!items_.empty()) {
    // Tables of the item may still come: they do not stand behind its members.
    out += base::Cat({items_.back().has_tables ? "]" : "\"tables\": []", ", \"members\": ["});
  }
  any = true;
  items_.emplace_back();
  out += base::Cat({"\n{\"name\": ", Visible(head.name), ", \"address\": ", Visible(head.address),
                    ", \"kind\": ", Visible(head.kind), ", \"size\": ", std::to_string(head.size),
                    ", "});
  Write(out);
}

void HtmlReport::Headline(std::string_view text) { items_.back().headline = text; }

void HtmlReport::Field(const Column& column, const Cell& value) {
  if (column.shown == Shown::kInJson || std::holds_alternative<std::monostate>(value)) return;
  std::string& fields = items_.back().fields;
  fields += base::Cat(
      {fields.empty() ? "" : ", ", "[", Visible(column.title), ", ", Value(column, value), "]"});
}

void HtmlReport::BeginTable(const TableSpec& spec) {
  Item& item = items_.back();
  std::string out = item.has_tables ? ",\n" : "\"tables\": [\n";
  item.has_tables = true;
  out += base::Cat(
      {"{\"key\": ", Visible(spec.key), ", \"title\": ", Visible(spec.title), ", \"columns\": ["});
  columns_.assign(spec.columns.begin(), spec.columns.end());
  std::string_view separator;
  for (const Column& column : columns_) {
    if (column.shown == Shown::kInJson) continue;
    out += base::Cat({separator, Visible(column.title.empty() ? column.key : column.title)});
    separator = ", ";
  }
  any_row_ = false;
  Write(out + "], \"rows\": [");
}

void HtmlReport::Row(std::span<const Cell> cells) {
  std::string out = any_row_ ? ",\n[" : "\n[";
  any_row_ = true;
  std::string_view separator;
  for (std::size_t i = 0; i < columns_.size() && i < cells.size(); ++i) {
    if (columns_[i].shown == Shown::kInJson) continue;
    out += base::Cat({separator, Value(columns_[i], cells[i])});
    separator = ", ";
  }
  Write(out + "]");
}

void HtmlReport::EndTable() { Write("]}"); }

void HtmlReport::EndItem() {
  const Item item = std::move(items_.back());
  items_.pop_back();
  std::string out = item.has_members  ? "]"
                    : item.has_tables ? "], \"members\": []"
                                      : "\"tables\": [], \"members\": []";
  out += base::Cat({", \"headline\": ", Visible(item.headline), ", \"fields\": [", item.fields,
                    "], \"problems\": ["});
  std::string_view separator;
  for (const std::string& problem : item.problems) {
    out += base::Cat({separator, Visible(problem)});
    separator = ", ";
  }
  Write(out + "]}");
}

void HtmlReport::Finish() {
  Write("\n]}");
  out_(tail_);
}

}  // namespace devlink::inspect
