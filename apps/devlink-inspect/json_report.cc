// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/json_report.h"

#include <cstddef>
#include <type_traits>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "devlink/version.h"

namespace devlink::inspect {

namespace {

constexpr int kSchema = 1;

template <typename List, typename Element>
std::string Array(const List& list, Element element) {
  std::string out = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out += ", ";
    out += element(list[i]);
  }
  return out + "]";
}

}  // namespace

JsonReport::JsonReport(Out out, base::ReadableNames& names) : out_(std::move(out)), names_(names) {
  out_(base::Cat({"{\n  \"schema\": ", std::to_string(kSchema), ",\n  \"generator\": ",
                  base::JsonString(base::Cat({"devlink-inspect ", Version()})),
                  ",\n  \"files\": ["}));
}

std::string JsonReport::Indent(std::size_t more) const {
  return "\n" + std::string(2 * (2 * items_.size() + more), ' ');
}

std::string JsonReport::Value(const Cell& value) const {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "null";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return base::JsonString(v);
        } else if constexpr (std::is_same_v<T, MangledName>) {
          return base::JsonString(v.text);
        } else if constexpr (std::is_same_v<T, bool>) {
          return v ? "true" : "false";
        } else if constexpr (std::is_same_v<T, std::vector<std::string_view>>) {
          return Array(v, base::JsonString);
        } else if constexpr (std::is_same_v<T, std::vector<std::uint64_t>>) {
          return Array(v, [](std::uint64_t n) { return std::to_string(n); });
        } else {
          return std::to_string(v);
        }
      },
      value);
}

void JsonReport::Append(const Column& column, const Cell& value, std::string& out) {
  out += base::Cat({base::JsonString(column.key), ": ", Value(value)});
  const auto* name = std::get_if<MangledName>(&value);
  if (name == nullptr || column.key != "name") return;
  const std::string readable = names_.Readable(name->text);
  if (readable != name->text) out += ", \"demangled\": " + base::JsonString(readable);
}

void JsonReport::BeginItem(const ItemHead& head) {
  bool& any = items_.empty() ? any_file_ : items_.back().has_members;
  std::string out = any ? "," : "";
  if (!any && !items_.empty()) out += base::Cat({",", Indent(1), "\"members\": ["});
  any = true;
  out += Indent(2) + "{";
  items_.emplace_back();
  out += base::Cat({Indent(1), "\"name\": ", base::JsonString(head.name)});
  if (!head.address.empty()) {
    out += base::Cat({",", Indent(1), "\"address\": ", base::JsonString(head.address)});
  }
  out += base::Cat({",", Indent(1), "\"kind\": ", base::JsonString(head.kind), ",", Indent(1),
                    "\"size\": ", std::to_string(head.size)});
  out_(out);
}

void JsonReport::Field(const Column& column, const Cell& value) {
  if (column.shown == Shown::kInText) return;
  std::string out = "," + Indent(1);
  Append(column, value, out);
  out_(out);
}

void JsonReport::BeginTable(const TableSpec& spec) {
  columns_.assign(spec.columns.begin(), spec.columns.end());
  any_row_ = false;
  out_(base::Cat({",", Indent(1), base::JsonString(spec.key), ": ["}));
}

void JsonReport::Row(std::span<const Cell> cells) {
  std::string out = base::Cat({any_row_ ? "," : "", Indent(2), "{"});
  any_row_ = true;
  bool any = false;
  for (std::size_t i = 0; i < columns_.size() && i < cells.size(); ++i) {
    if (columns_[i].shown == Shown::kInText) continue;
    if (any) out += ", ";
    any = true;
    Append(columns_[i], cells[i], out);
  }
  out_(out + "}");
}

void JsonReport::EndTable() { out_(any_row_ ? Indent(1) + "]" : "]"); }

void JsonReport::EndItem() {
  const Item item = std::move(items_.back());
  std::string out;
  if (item.has_members) out += Indent(1) + "]";
  if (!item.problems.empty()) {
    out += base::Cat({",", Indent(1), "\"problems\": ", Array(item.problems, base::JsonString)});
  }
  items_.pop_back();
  out_(out + Indent(2) + "}");
}

void JsonReport::Finish() { out_(any_file_ ? "\n  ]\n}\n" : "]\n}\n"); }

}  // namespace devlink::inspect
