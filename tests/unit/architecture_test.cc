// SPDX-License-Identifier: Apache-2.0
//
// Rules of the source tree that no compiler checks.
#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = DEVLINK_SOURCE_ROOT;
const fs::path kLibrary = kRoot / "libdevlink" / "src";
const fs::path kPublic = kRoot / "libdevlink" / "include" / "devlink";

// A folder may include itself and those before it.
constexpr std::array<std::string_view, 16> kLayers = {
    "base",      "format", "write", "cache", "model", "input",  "assemble", "lto",
    "toolchain", "plan",   "merge", "link",  "image", "report", "session",  "command"};

std::vector<fs::path> SourcesUnder(const fs::path& directory) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const auto extension = entry.path().extension();
    if (extension == ".cc" || extension == ".h") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

struct Include {
  std::string path;
  bool quoted = false;
};

std::vector<Include> IncludesOf(const fs::path& file) {
  std::vector<Include> out;
  std::istringstream in(ReadText(file).value_or(""));
  const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_search(line, match, pattern)) out.push_back({match[2], match[1] == "\""});
  }
  return out;
}

std::string Name(const fs::path& file) { return file.lexically_relative(kRoot).string(); }

// Without comments and string literals: a rule may be named where it is explained.
std::string CodeOf(const fs::path& file) {
  const std::string text = ReadText(file).value_or("");
  std::string code;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
      code += '\n';
    } else if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
      code += "\"\"";
    } else {
      code += text[i];
    }
  }
  return code;
}

TEST_CASE("Folders include only what stands below them", "[architecture]") {
  REQUIRE(SourcesUnder(kLibrary).size() > 20);
  for (const fs::path& file : SourcesUnder(kLibrary)) {
    const std::string own = file.lexically_relative(kLibrary).begin()->string();
    const auto* own_layer = std::find(kLayers.begin(), kLayers.end(), own);
    if (own_layer == kLayers.end()) {
      FAIL_CHECK(Name(file) << " lies in no known folder");
      continue;
    }
    for (const Include& include : IncludesOf(file)) {
      if (!include.quoted) continue;
      const std::string folder = include.path.substr(0, include.path.find('/'));
      if (folder == "devlink" || folder == "absl" || folder == "llvm") continue;
      const auto* layer = std::find(kLayers.begin(), kLayers.end(), folder);
      if (layer == kLayers.end() || layer > own_layer) {
        FAIL_CHECK(Name(file) << " includes " << include.path);
      }
      if (!fs::exists(kLibrary / include.path)) {
        FAIL_CHECK(Name(file) << " includes " << include.path << ", which does not exist");
      }
    }
  }
}

TEST_CASE("LLVM is used in few places", "[architecture]") {
  const std::set<std::string> allowed = {
      "libdevlink/src/base/demangle.cc",         "libdevlink/src/cache/cache_key.cc",
      "libdevlink/src/cache/directory_cache.cc", "libdevlink/src/input/archive.cc",
      "libdevlink/src/input/host_object.cc",     "libdevlink/src/model/module_pool.cc",
      "libdevlink/src/input/admission.cc"};
  for (const fs::path& file : SourcesUnder(kRoot / "libdevlink")) {
    for (const Include& include : IncludesOf(file)) {
      if (include.path.starts_with("llvm") && !allowed.contains(Name(file))) {
        FAIL_CHECK(Name(file) << " includes " << include.path);
      }
    }
  }
}

TEST_CASE("The library does not speak, ask its environment or end the program", "[architecture]") {
  const std::regex forbidden(
      R"(<iostream>|\bstd::(cout|cerr|clog)\b|\bgetenv\b|\b(exit|_exit|abort|quick_exit)\s*\()"
      R"(|\bf?printf\s*\(|\bspdlog\b|\bassert\s*\(|\bCHECK\s*\()");
  for (const fs::path& file : SourcesUnder(kLibrary)) {
    const std::string code = CodeOf(file);
    std::smatch match;
    if (std::regex_search(code, match, forbidden)) {
      FAIL_CHECK(Name(file) << " has " << match.str());
    }
  }
}

TEST_CASE("Public headers include the standard library, Abseil's status and each other",
          "[architecture]") {
  REQUIRE(SourcesUnder(kPublic).size() > 5);
  for (const fs::path& file : SourcesUnder(kPublic)) {
    if (file.filename() == "spdlog_sink.h") continue;  // for those who have spdlog
    for (const Include& include : IncludesOf(file)) {
      const bool standard = !include.quoted && include.path.find('/') == std::string::npos &&
                            include.path.find('.') == std::string::npos;
      if (!standard && !include.path.starts_with("absl/status/") &&
          !include.path.starts_with("devlink/")) {
        FAIL_CHECK(Name(file) << " includes " << include.path);
      }
    }
  }
}

TEST_CASE("The header of everything includes every public header", "[architecture]") {
  std::set<std::string> included;
  for (const Include& include : IncludesOf(kPublic / "devlink.h")) included.insert(include.path);
  for (const fs::path& file : SourcesUnder(kPublic)) {
    const std::string name = file.lexically_relative(kPublic.parent_path()).string();
    if (name == "devlink/devlink.h" || name == "devlink/spdlog_sink.h") continue;
    CAPTURE(name);
    CHECK(included.contains(name));
  }
}

TEST_CASE("Headers are guarded", "[architecture]") {
  for (const char* part : {"libdevlink", "apps", "tests"}) {
    for (const fs::path& file : SourcesUnder(kRoot / part)) {
      if (file.extension() == ".h" && CodeOf(file).find("#pragma once") == std::string::npos) {
        FAIL_CHECK(Name(file) << " has no #pragma once");
      }
    }
  }
}

TEST_CASE("No source file is longer than 800 lines", "[architecture]") {
  for (const char* part : {"libdevlink", "apps", "tests"}) {
    for (const fs::path& file : SourcesUnder(kRoot / part)) {
      const std::string text = ReadText(file).value_or("");
      const auto lines = std::count(text.begin(), text.end(), '\n');
      if (lines > 800) FAIL_CHECK(Name(file) << " has " << lines << " lines");
    }
  }
}

// What the program does, the library can do for every other program.
TEST_CASE("The program devlink is 200 lines around the library", "[architecture]") {
  std::ptrdiff_t lines = 0;
  for (const fs::path& file : SourcesUnder(kRoot / "apps" / "devlink")) {
    const std::string text = ReadText(file).value_or("");
    lines += std::count(text.begin(), text.end(), '\n');
  }
  CHECK(lines > 0);
  CHECK(lines <= 200);
}

std::vector<fs::path> TrackedFiles() {
  const ProcessResult listing = RunProcess(
      {"git", "-C", kRoot.string(), "ls-files", "--cached", "--others", "--exclude-standard"});
  std::vector<fs::path> out;
  std::istringstream in(listing.out);
  for (std::string line; std::getline(in, line);) {
    if (fs::is_regular_file(kRoot / line)) out.push_back(kRoot / line);
  }
  return out;
}

TEST_CASE("Every source says its licence", "[architecture]") {
  const std::vector<fs::path> files = TrackedFiles();
  if (files.empty()) DEVLINK_SKIP("not in a git working tree");
  const std::set<std::string> kinds = {".cc", ".h",  ".cu", ".cuh",  ".ptx",
                                       ".py", ".sh", ".md", ".cmake"};
  for (const fs::path& file : files) {
    const bool is_source = kinds.contains(file.extension().string()) ||
                           file.filename() == "CMakeLists.txt" ||
                           (file.parent_path().filename() == "scripts" && !file.has_extension());
    if (!is_source) continue;
    const std::string head = ReadText(file).value_or("").substr(0, 300);
    if (head.find("SPDX-License-Identifier: Apache-2.0") == std::string::npos) {
      FAIL_CHECK(Name(file) << " has no SPDX line");
    }
  }
}

}  // namespace
}  // namespace devlink::testing
