// SPDX-License-Identifier: Apache-2.0
//
// The words of devlink-bench.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "programs.h"

namespace devlink::bench {

struct Options {
  bool quick = false;
  bool without_nvlink = false;
  bool counts_instructions = false;
  std::string target = "sm_80";
  int runs = 7;
  std::vector<std::string> classes;  // empty: all
  std::string json;
  std::filesystem::path devlink;
  std::filesystem::path diff;
  std::filesystem::path cache;
  std::filesystem::path folder;  // where links have their inputs and outputs; empty: the cache
};

// What is not said comes from where the running program lies, `programs`. Nothing where a word is
// unknown or lacks its value, or a number is none.
std::optional<Options> ParseOptions(const std::vector<std::string>& words,
                                    const std::filesystem::path& programs);

bool Wanted(const Options& options, const ProgramClass& program);

std::string UsageText();

}  // namespace devlink::bench
