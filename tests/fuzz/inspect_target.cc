// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <string_view>

#include "base/readable_names.h"
#include "devlink-inspect/inspect.h"
#include "devlink-inspect/json_report.h"
#include "devlink-inspect/text_report.h"
#include "fuzz/targets.h"
#include "llvm/Support/JSON.h"

namespace devlink::testing {
// A text without control characters, and JSON, with as many problems.
void FuzzInspect(FuzzBytes bytes) {
  std::string text;
  base::ReadableNames names(true);
  inspect::TextReport people([&text](std::string_view part) { text += part; }, names);
  inspect::InspectBytes("fuzzed", bytes, {.choice = inspect::Choice::Everything()}, people);
  for (const char c : text) {
    Expect(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20,
           "a control character in a text");
  }
  std::string json;
  inspect::JsonReport programs([&json](std::string_view part) { json += part; }, names);
  inspect::InspectBytes("fuzzed", bytes, {.choice = inspect::Choice::Everything()}, programs);
  programs.Finish();
  auto parsed = llvm::json::parse(json);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    Expect(false, "not JSON");
  }
  Expect(people.problems() == programs.problems(), "problems that one form alone has");
}

}  // namespace devlink::testing
