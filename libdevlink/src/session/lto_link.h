// SPDX-License-Identifier: Apache-2.0
//
// Link-time optimization as one step of a link: from LTO IR to PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"
#include "devlink/host_references.h"

namespace devlink::internal {

// LTO IR among the inputs.
struct LtoInput {
  std::string name;
  std::vector<std::uint8_t> bytes;  // see FoundCode
  bool is_protected = false;
  std::optional<std::string> member_options;  // none for IR that came in no fat binary
};

// The device runtime in a link with LTO: whether it is needed shows when the IR is compiled.
struct HeldRuntime {
  std::size_t place = 0;
  std::string name;
  std::vector<std::uint8_t> cubin;
  HostReferences references;
  bool seen_by_nvlink = false;  // no archive, or a host object came before it
};

// What a host object says of its host code.
struct LtoHostInput {
  HostReferences references;
  bool is_device_runtime = false;
  bool seen_by_nvlink = true;  // as in HeldRuntime
};

// All that a session holds for LTO.
struct LtoState {
  std::vector<LtoInput> modules;
  std::vector<LtoInput> runtime_modules;   // IR of a device runtime, which goes last
  std::vector<HeldRuntime> runtime;        // code of one
  std::vector<LtoHostInput> references;    // of all host objects
  std::optional<std::size_t> place;        // of the last host object with LTO IR
  std::size_t last_place = 0;              // of the last LTO IR of any kind
  bool worth_compiling = false;            // there is IR other than libdevice
  bool partial = false;                    // there is code that is not LTO IR
  std::string last_without;                // the last input that made it so
  std::string last_host_object;            // with code for the device or without
  bool object_after_runtime = false;       // a host object came behind one of `runtime`
  bool runtime_left_out = false;           // by the last link
  bool whole_program = false;              // the last link was no more than a compilation
  bool compiler_is_for_protected = false;  // what `lto_compiler` was made for
};

// How one attempt goes beyond what nvlink does.
struct LtoChoices {
  bool with_runtime = false;      // the device runtime counts, although nvlink would not open it
  bool keep_arch_suffix = false;  // CiccOptionBuilder::KeepArchSuffix
};

// What became of all LTO IR of a link.
struct LtoAttempt {
  absl::Status status;
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> pieces;                // PTX
  std::vector<std::vector<std::uint8_t>> cubins;  // of the pieces, but with -emit-ptx
  bool is_whole_program = false;                  // the one cubin is the output
  bool suffix_may_help = false;                   // CiccOptionBuilder::NeedsSecondAttempt
};

}  // namespace devlink::internal
