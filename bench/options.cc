// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "markdown.h"

namespace devlink::bench {

namespace {

namespace fs = std::filesystem;

// Memory that looks like a disk, where the system has some.
constexpr char kMemory[] = "/dev/shm";

bool ReadNumber(const std::string& text, int& number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end && number > 0;
}

// Options without a value.
bool ReadSwitch(const std::string& word, Options& options) {
  if (word == "--quick") {
    options.quick = true;
  } else if (word == "--no-nvlink") {
    options.without_nvlink = true;
  } else if (word == "--instructions") {
    options.counts_instructions = true;
  } else {
    return false;
  }
  return true;
}

bool ReadValue(const std::string& word, const std::string& value, Options& options) {
  if (word == "--class") {
    options.classes.push_back(value);
  } else if (word == "--arch") {
    options.target = value;
  } else if (word == "--json") {
    options.json = value;
  } else if (word == "--devlink") {
    options.devlink = fs::absolute(value);
  } else if (word == "--cache") {
    options.cache = fs::absolute(value);
  } else if (word == "--folder") {
    options.folder = fs::absolute(value);
  } else {
    return word == "--runs" && ReadNumber(value, options.runs);
  }
  return true;
}

}  // namespace

std::optional<Options> ParseOptions(const std::vector<std::string>& words,
                                    const fs::path& programs) {
  Options options;
  options.devlink = programs / "devlink";
  options.diff = programs / "devlink-diff";
  options.cache = programs.parent_path() / "bench-modules";
  std::error_code ignored;
  if (fs::is_directory(kMemory, ignored)) options.folder = kMemory;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (ReadSwitch(words[i], options)) continue;
    if (i + 1 == words.size() || !ReadValue(words[i], words[i + 1], options)) return std::nullopt;
    ++i;
  }
  return options;
}

bool Wanted(const Options& options, const ProgramClass& program) {
  const auto& names = options.classes;
  return names.empty() || std::find(names.begin(), names.end(), program.name) != names.end();
}

std::string UsageText() {
  std::string out =
      "usage: devlink-bench [OPTION...]\n"
      "  --quick           leave nvlink and nvJitLink out where they take more than 20 s\n"
      "  --no-nvlink       leave both out everywhere\n"
      "  --class NAME      only this class of programs (repeatable)\n"
      "  --arch ARCH       the target, sm_80 where nothing is said\n"
      "  --runs N          runs of each link, 7 where nothing is said; of long ones one\n"
      "  --instructions    count instructions of devlink, too (needs Valgrind)\n"
      "  --json FILE       write the results to a file, too\n"
      "  --devlink FILE    measure this devlink instead of the one beside this program\n"
      "  --cache DIR       where compiled modules are kept\n"
      "  --folder DIR      where links have their inputs and outputs: /dev/shm where it is there\n"
      "classes:\n";
  for (const ProgramClass& program : ProgramClasses()) {
    out += Format("  %-10s %d modules\n", program.name.c_str(), program.modules);
  }
  return out;
}

}  // namespace devlink::bench
