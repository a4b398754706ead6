// SPDX-License-Identifier: Apache-2.0
//
// Link-time optimization as one step of a link: LTO IR becomes PTX, and that becomes cubins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "plan/link_context.h"
#include "plan/selection.h"

namespace devlink::internal {

// What nvlink calls the result in its messages.
inline constexpr const char* kLtoResultName = "lto.cubin";

// What became of all LTO IR of a link.
struct LtoResult {
  absl::Status status;
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> pieces;                // PTX
  std::vector<std::vector<std::uint8_t>> cubins;  // of the pieces, but with -emit-ptx
  bool is_whole_program = false;                  // the one cubin is the output
  std::vector<CompilerRun> runs;
};

// Nothing where no IR asks to be compiled: nvlink then warns that LTO has nothing to do.
LtoResult CompileLto(const LtoSelection& lto, const LinkOptions& options,
                     const LinkContext& context);

// Of a whole program: nvlink writes it and then fails, unless the last host object is the device
// runtime. Nothing where nvlink's behaviour is not asked for.
std::optional<Diagnostic> MissesRuntime(const LtoSelection& lto, const LinkOptions& options);

// Whether the result was one part of the program, linked with others without the host's references
// having had a say in it.
bool IsPartialLto(const LtoSelection& lto, const LinkOptions& options);

}  // namespace devlink::internal
