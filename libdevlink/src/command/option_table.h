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

#include "absl/status/status.h"
#include "devlink/nvlink_command.h"

namespace devlink::internal {

// What the rows fill in.
struct Parsed {
  NvlinkCommand command;
  // What is checked when all options are known.
  std::string arch;        // as it was written; empty: not at all
  std::string lto_target;  // `lto_80`, which nvlink knows and does not link for
  bool uses_host_info = false;
  bool ignores_host_info = false;
  std::optional<std::string> output;
  std::optional<std::string> nvvm_path;
  std::optional<std::string> fast_compile;
  bool dump_callgraph = false;
  bool dump_mangled = false;
  std::optional<bool> verbose_record;
  std::optional<std::string> api_version;
};

enum class Takes {
  kNothing,
  kValue,
  kNumber,
  kOptionalValue,  // Option::value_if_none where a dash or nothing follows
  kEach,           // a value; each that is given counts
  kList,           // values that add up, items separated by commas
  kFiles           // the same, of files whose words stand in the place of the option
};

// Whether nvlink leaves the option in `.note.nv.tkinfo`, under its short name. Some only where the
// record names files (-g, -verbose-tkinfo): the last part of a path, or nothing but the option.
enum class Recorded { kNo, kYes, kFileNameForDebugger, kEmptyForDebugger };

// Where help lists the option; groups stand in this order.
enum class Group {
  kCommon,
  kInputs,
  kProgram,
  kSymbols,
  kLto,
  kMessages,
  kReports,
  kOwnReports,
  kCompatibility,
  kTools,
  kAccepted,
};

// What an option is about, for those who give only some of them.
enum class Concern {
  kLink,      // what is linked and how
  kThisLink,  // inputs, the output's name, what is said: another link of the same has its own
  kTools,     // which tools compile
  kCommand,   // files and streams of the command, which a caller of the library does not have
};

struct OptionValue {
  std::string text;  // as written
  int number = 0;
  std::vector<std::string> items;  // of a list
};

struct Option {
  std::string_view short_name;
  std::string_view long_name;
  Takes takes;
  std::string_view value;  // what help calls it
  Recorded recorded;
  Group group;
  // For every value as it is read, which is when nvlink checks it; null where there is no effect.
  // InvalidArgument with nvlink's words for a value that is wrong.
  absl::Status (*apply)(const OptionValue& value, Parsed& parsed);
  std::string_view help;
  std::string_view value_if_none = {};
  Concern concern = Concern::kLink;
};

// In the order in which nvlink records them.
std::span<const Option> Options();

// Null where there is no such option. Names are given without their dashes.
const Option* FindOption(std::string_view name, bool is_long);

}  // namespace devlink::internal
