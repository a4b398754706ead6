// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/link_options.h
#pragma once

#include <cstdint>
#include <string>

#include "devlink/arch.h"
#include "devlink/toolkit_profile.h"

namespace devlink {

// Everything that steers a link. A link's output depends on these values and on the bytes and the
// order of its inputs, on nothing else.
struct LinkOptions {
  Arch target;
  ToolkitProfile profile;

  // nvlink -g: keeps dead functions and the symbols of shared memory, for the debugger.
  bool debug = false;

  // No warning where an entry's stack cannot be determined.
  bool suppress_stack_size_warning = false;

  // nvlink -disable-infos, which in spite of its name silences warnings.
  bool suppress_warnings = false;

  // nvlink -Werror: warnings become errors.
  bool warnings_are_errors = false;

  // nvlink -v: resource usage of every entry as info diagnostics.
  bool verbose = false;

  // nvlink -report-arch: every line ends with ` (target: sm_80)`.
  bool report_arch = false;

  // The options text kept in `.note.nv.tkinfo`. Empty: what nvlink records for these options,
  // "-arch sm_90 " for a plain link.
  std::string recorded_options;
  // The output's name in the same record, which nvlink keeps with -g only.
  std::string recorded_object;

  // Bound on the size of one input, so that a hostile file cannot exhaust memory.
  std::uint64_t max_input_bytes = std::uint64_t{4} << 30;
};

}  // namespace devlink
