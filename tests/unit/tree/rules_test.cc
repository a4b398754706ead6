// SPDX-License-Identifier: Apache-2.0
//
// Rules of the source tree that no compiler checks.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "unit/tree/source_tree.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

TEST_CASE("LLVM is used in few places", "[tree]") {
  const std::set<std::string> allowed = {
      "libdevlink/src/base/demangle.cc", "libdevlink/src/cache/cache_key.cc",
      "libdevlink/src/cache/entry.cc", "libdevlink/src/model/module_pool.cc"};
  for (const fs::path& file : SourcesUnder(TreeRoot() / "libdevlink")) {
    for (const IncludeLine& include : IncludesOf(file)) {
      if (include.path.starts_with("llvm") && !allowed.contains(NameInTree(file))) {
        FAIL_CHECK(NameInTree(file) << " includes " << include.path);
      }
    }
  }
}

TEST_CASE("Hash tables are those that bear a failed allocation", "[tree]") {
  for (const fs::path& file : SourcesUnder(TreeRoot() / "libdevlink")) {
    if (NameInTree(file) == "libdevlink/src/base/hash_table.h") continue;
    for (const IncludeLine& include : IncludesOf(file)) {
      const bool is_table = include.path.starts_with("absl/container/flat_hash") ||
                            include.path.starts_with("absl/container/node_hash");
      if (is_table) FAIL_CHECK(NameInTree(file) << " includes " << include.path);
    }
  }
}

TEST_CASE("The library does not speak, ask its environment or end the program", "[tree]") {
  const std::regex forbidden(
      R"(<iostream>|\bstd::(cout|cerr|clog)\b|\bgetenv\b|\b(exit|_exit|abort|quick_exit)\s*\()"
      R"(|\bf?printf\s*\(|\bspdlog\b|\bassert\s*\(|\bCHECK\s*\()");
  // What a child does that did not become the program which it was started for.
  constexpr std::string_view kEndsChildren = "libdevlink/src/assemble/child_start.cc";
  for (const fs::path& file : SourcesUnder(LibrarySources())) {
    std::string code = WithoutCommentsAndLiterals(TextOf(file));
    if (NameInTree(file) == kEndsChildren) code = std::regex_replace(code, std::regex("_exit"), "");
    std::smatch match;
    if (std::regex_search(code, match, forbidden)) {
      FAIL_CHECK(NameInTree(file) << " has " << match.str());
    }
  }
}

TEST_CASE("The library asks its environment for the time", "[tree]") {
  // What stands behind the interface; how long a child process or a server may take; and times of
  // files.
  const std::set<std::string> allowed = {
      "libdevlink/src/assemble/child_process.cc", "libdevlink/src/base/environment.cc",
      "libdevlink/src/base/time_trace.cc", "libdevlink/src/cache/file_identity.cc",
      "libdevlink/src/network/deadline.h"};
  const std::regex clock(R"(_clock\b|\bclock_gettime\b|\bgettimeofday\b)");
  for (const fs::path& file : SourcesUnder(LibrarySources())) {
    const std::string code = WithoutCommentsAndLiterals(TextOf(file));
    CAPTURE(NameInTree(file));
    CHECK(std::regex_search(code, clock) == allowed.contains(NameInTree(file)));
  }
}

TEST_CASE("Public headers include the standard library, Abseil's status and each other", "[tree]") {
  REQUIRE(SourcesUnder(PublicHeaders()).size() > 5);
  for (const fs::path& file : SourcesUnder(PublicHeaders())) {
    if (file.filename() == "spdlog_sink.h") continue;  // for those who have spdlog
    if (file.parent_path().filename() == "c") {        // for C
      for (const IncludeLine& include : IncludesOf(file)) {
        CAPTURE(include.path);
        CHECK((include.path == "stddef.h" || include.path == "stdint.h"));
      }
      continue;
    }
    for (const IncludeLine& include : IncludesOf(file)) {
      const bool standard = !include.quoted && include.path.find('/') == std::string::npos &&
                            include.path.find('.') == std::string::npos;
      if (!standard && !include.path.starts_with("absl/status/") &&
          !include.path.starts_with("devlink/")) {
        FAIL_CHECK(NameInTree(file) << " includes " << include.path);
      }
    }
  }
}

TEST_CASE("The header of everything includes every public header", "[tree]") {
  std::set<std::string> included;
  for (const IncludeLine& include : IncludesOf(PublicHeaders() / "devlink.h"))
    included.insert(include.path);
  for (const fs::path& file : SourcesUnder(PublicHeaders())) {
    const std::string name = file.lexically_relative(PublicHeaders().parent_path()).string();
    if (name == "devlink/devlink.h" || name == "devlink/experimental/spdlog_sink.h") continue;
    if (name == "devlink/experimental/network_cache.h") continue;  // for those who have libcurl
    if (name == "devlink/c/devlink.h") continue;                   // says the same once more
    CAPTURE(name);
    CHECK(included.contains(name));
  }
}

// Whoever links in an ordinary way reads these; what they need not know is experimental.
TEST_CASE("The public interface is a dozen headers and the one of all", "[tree]") {
  std::ptrdiff_t headers = 0;
  for (const fs::path& file : SourcesUnder(PublicHeaders())) {
    headers += file.parent_path() == PublicHeaders() ? 1 : 0;
  }
  CHECK(headers > 1);
  CHECK(headers <= 13);
}

// Most lists of sources are written by hand, and a test that is in none of them passes for ever.
TEST_CASE("Every source is in a list of what is built", "[tree]") {
  // All files of these folders are (tests/CMakeLists.txt).
  const std::set<std::string> taken_whole = {"devlink-inspect", "link", "merge", "report"};
  std::string lists;
  for (const fs::path& file : TrackedFiles()) {
    const bool is_list = file.filename() == "CMakeLists.txt" || file.extension() == ".cmake";
    if (is_list) lists += TextOf(file) + "\n";
  }
  if (lists.empty()) DEVLINK_SKIP("not in a git working tree");
  for (const char* part : {"apps", "examples", "libdevlink", "tests"}) {
    for (const fs::path& file : SourcesUnder(TreeRoot() / part)) {
      const fs::path folder = file.parent_path();
      if (file.extension() != ".cc" || (folder.parent_path().filename() == "unit" &&
                                        taken_whole.contains(folder.filename().string()))) {
        continue;
      }
      // Behind its folder, or behind what stands for that.
      const std::regex name("(^|[ }]|" + folder.filename().string() + ")/?" +
                            file.filename().string() + "[ )\"\n]");
      if (!std::regex_search(lists, name)) FAIL_CHECK(NameInTree(file) << " is in no list");
    }
  }
}

TEST_CASE("Headers are guarded", "[tree]") {
  for (const char* part : {"libdevlink", "apps", "tests"}) {
    for (const fs::path& file : SourcesUnder(TreeRoot() / part)) {
      if (file.extension() == ".h" &&
          WithoutCommentsAndLiterals(TextOf(file)).find("#pragma once") == std::string::npos) {
        FAIL_CHECK(NameInTree(file) << " has no #pragma once");
      }
    }
  }
}

TEST_CASE("No source file is longer than 800 lines", "[tree]") {
  for (const char* part : {"libdevlink", "apps", "tests"}) {
    for (const fs::path& file : SourcesUnder(TreeRoot() / part)) {
      const std::string text = TextOf(file);
      const auto lines = std::count(text.begin(), text.end(), '\n');
      if (lines > 800) FAIL_CHECK(NameInTree(file) << " has " << lines << " lines");
    }
  }
}

// What the program does, the library can do for every other program.
TEST_CASE("The program devlink is 200 lines around the library", "[tree]") {
  std::ptrdiff_t lines = 0;
  for (const fs::path& file : SourcesUnder(TreeRoot() / "apps" / "devlink")) {
    const std::string text = TextOf(file);
    lines += std::count(text.begin(), text.end(), '\n');
  }
  CHECK(lines > 0);
  CHECK(lines <= 200);
}

// With `pipefail`, a reader that stops before the end makes the writer's SIGPIPE the status of the
// pipe: on some machines, and with some luck.
std::string PipeReadInPart(const std::string& script) {
  static const std::regex partial(
      R"((^|[^|])\|\s*(head\b|grep\s+(-[^ ]+ )*-\w*[qm]|awk\b.*\bexit\b|sed\b.*\bq\b|read\b).*)");
  std::smatch match;
  return std::regex_search(script, match, partial) ? match.str() : "";
}

TEST_CASE("No script reads a pipe only in part", "[tree]") {
  CHECK_FALSE(PipeReadInPart("a=\"$(ldconfig -p | awk '{ print $NF; exit }')\"").empty());
  CHECK_FALSE(PipeReadInPart("nm a.o |\n  grep -q name").empty());
  CHECK(PipeReadInPart("[[ -z $a ]] || grep -q -- \"$a\" out.txt").empty());
  for (const fs::path& file : TrackedFiles()) {
    const std::string text = TextOf(file);
    if (!text.starts_with("#!/usr/bin/env bash")) continue;
    CAPTURE(NameInTree(file));
    CHECK(PipeReadInPart(text).empty());
  }
}

TEST_CASE("Every source says its licence", "[tree]") {
  const std::vector<fs::path> files = TrackedFiles();
  if (files.empty()) DEVLINK_SKIP("not in a git working tree");
  const std::set<std::string> kinds = {".c",   ".cc", ".h",  ".cu", ".cuh",
                                       ".ptx", ".py", ".sh", ".md", ".cmake"};
  for (const fs::path& file : files) {
    const bool is_source = kinds.contains(file.extension().string()) ||
                           file.filename() == "CMakeLists.txt" ||
                           (file.parent_path().filename() == "scripts" && !file.has_extension());
    if (!is_source) continue;
    const std::string head = TextOf(file).substr(0, 300);
    if (head.find("SPDX-License-Identifier: Apache-2.0") == std::string::npos) {
      FAIL_CHECK(NameInTree(file) << " has no SPDX line");
    }
  }
}

}  // namespace
}  // namespace devlink::testing
