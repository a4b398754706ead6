// SPDX-License-Identifier: Apache-2.0
#include "unit/devlink-inspect/shown.h"

#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <string_view>

#include "base/readable_names.h"
#include "devlink-inspect/html_report.h"
#include "devlink-inspect/json_report.h"
#include "devlink-inspect/text_report.h"
#include "support/catch.h"

namespace devlink::testing {

ShownText AsText(std::span<const std::uint8_t> bytes, const inspect::Choice& choice,
                 const std::string& name, bool demangle) {
  ShownText out;
  base::ReadableNames names(demangle);
  inspect::TextReport report([&out](std::string_view text) { out.text += text; }, names);
  inspect::InspectBytes(name, bytes, {.choice = choice}, report);
  out.problems = report.problems();
  return out;
}

ShownText AsJson(std::span<const std::uint8_t> bytes, const inspect::Choice& choice,
                 const std::string& name, bool demangle) {
  ShownText out;
  base::ReadableNames names(demangle);
  inspect::JsonReport report([&out](std::string_view text) { out.text += text; }, names);
  inspect::InspectBytes(name, bytes, {.choice = choice}, report);
  report.Finish();
  out.problems = report.problems();
  return out;
}

ShownText AsPageData(std::span<const std::uint8_t> bytes, const inspect::Choice& choice,
                     const std::string& name) {
  ShownText page;
  base::ReadableNames names(true);
  inspect::HtmlReport report([&page](std::string_view text) { page.text += text; }, names, name);
  inspect::InspectBytes(name, bytes, {.choice = choice}, report);
  report.Finish();
  page.problems = report.problems();
  constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.text.find(kBegin);
  REQUIRE(begin != std::string::npos);
  page.text.erase(0, begin + kBegin.size());
  page.text.resize(page.text.find("</script>"));
  return page;
}

llvm::json::Object FileIn(const std::string& document, bool is_page) {
  auto value = llvm::json::parse(document);
  if (!value) {
    FAIL(llvm::toString(value.takeError()) << "\n" << document);
  }
  const llvm::json::Object* top = value->getAsObject();
  REQUIRE(top != nullptr);
  if (!is_page) CHECK(top->getInteger("schema") == 1);
  const llvm::json::Array* files = top->getArray("files");
  REQUIRE(files != nullptr);
  REQUIRE(files->size() == 1);
  return *files->front().getAsObject();
}

std::vector<llvm::json::Object> ListIn(const llvm::json::Object& item, const std::string& key) {
  std::vector<llvm::json::Object> out;
  INFO(key);
  const llvm::json::Array* list = item.getArray(key);
  REQUIRE(list != nullptr);
  for (const llvm::json::Value& value : *list) out.push_back(*value.getAsObject());
  return out;
}

std::string StringIn(const llvm::json::Object& item, const std::string& key) {
  return item.getString(key).value_or("").str();
}

std::vector<std::uint8_t> Golden(const std::string& name) {
  std::ifstream file(std::string(DEVLINK_TEST_SOURCE) + "/golden/" + name, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace devlink::testing
