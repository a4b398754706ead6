// SPDX-License-Identifier: Apache-2.0
//
// The options of the command line: one row says how an option is written, what it means to the
// link, how nvlink records it and what help says of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/command_line.h"

namespace devlink::app {

// Nothing where all is well, or what is wrong, in nvlink's words.
using Problem = std::optional<std::string>;

// What the rows fill in.
struct Parsed {
  CommandLine line;
  // What is checked when all options are known.
  bool has_arch = false;
  bool uses_host_info = false;
  bool ignores_host_info = false;
  std::optional<std::string> output;
  std::optional<std::string> nvvm_path;
  std::optional<std::string> fast_compile;
};

enum class Takes {
  kNothing,
  kValue,
  kList,  // values that add up, items separated by commas
  kFiles  // the same, of files whose words stand in the place of the option
};

// Whether nvlink leaves the option in `.note.nv.tkinfo`, under its short name.
enum class Recorded { kNo, kYes, kFileNameForDebugger };

struct OptionValue {
  std::string text;                // as written
  std::vector<std::string> items;  // of a list
};

struct Option {
  std::string_view short_name;
  std::string_view long_name;
  Takes takes;
  Recorded recorded;
  // For every value as it is read, as nvlink checks them; null where there is no effect.
  Problem (*apply)(const OptionValue& value, Parsed& parsed);
  std::string_view help;
};

// In the order in which nvlink records them.
std::span<const Option> Options();

const Option* FindOption(std::string_view name, bool is_long);

}  // namespace devlink::app
