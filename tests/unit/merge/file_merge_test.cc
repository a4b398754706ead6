// SPDX-License-Identifier: Apache-2.0
#include "merge/file_merge.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "unit/merge/merged.h"

namespace devlink::testing {
namespace {

TEST_CASE("The file has every tool's record and one CUDA note, with the lowest architecture",
          "[merge]") {
  internal::FileMerge file({.sm = 80, .architecture_specific = false, .profile = {}});
  const auto modules = LoadCubins(
      {{.sm = 80, .functions = {{.name = "f"}}}, {.sm = 75, .functions = {{.name = "g"}}}});
  for (const ModuleRef& module : modules) file.Add(module->sass());
  const internal::FileParts parts = std::move(file).Finish();
  CHECK(parts.tool_records.size() == 2);
  REQUIRE(parts.cuda_note.size() >= 28);
  std::uint16_t lowest = 0;
  std::memcpy(&lowest, parts.cuda_note.data() + 26, sizeof(lowest));
  CHECK(lowest == 75);
  CHECK(parts.compat.empty());
}

TEST_CASE("Without inputs the file describes its target", "[merge]") {
  internal::FileMerge file({.sm = 90, .architecture_specific = true, .profile = {}});
  const internal::FileParts parts = std::move(file).Finish();
  CHECK(parts.compat == std::vector<std::uint8_t>{2, 9, 1, 0});
  CHECK((parts.cuda_note_flags & format::kShfInfoLink) != 0);
}

}  // namespace
}  // namespace devlink::testing
