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

// A text of PTX that came of LTO IR, and the cubin that it became.
struct LtoPiece {
  std::string name;  // kLtoResultName, or that of the part
  std::string ptx;
  std::vector<std::uint8_t> cubin;  // empty with -emit-ptx
};

// What became of all LTO IR of a link.
struct LtoResult {
  absl::Status status;
  std::vector<Diagnostic> diagnostics;
  std::vector<LtoPiece> pieces;
  bool is_whole_program = false;  // the one cubin is the output
  std::vector<CompilerRun> runs;
};

// Nothing where no IR asks to be compiled: nvlink then warns that LTO has nothing to do.
LtoResult CompileLto(const LtoSelection& lto, const LinkOptions& options,
                     const LinkContext& context);

// Of a whole program: nvlink writes it and then fails, unless the last host object is the device
// runtime. Nothing where nvlink's behaviour is not asked for.
std::optional<Diagnostic> MissesRuntime(const LtoSelection& lto, const LinkOptions& options);

// Whether the IR is cut into parts, which are compiled apart and linked (--lto-partitions).
bool IsInParts(const LtoSelection& lto, const LinkOptions& options);

// The options of the link that joins parts: `options`, but for what libNVVM would have taken for
// something else than a link does. With -variables-used alone it keeps every kernel, a link none.
LinkOptions OptionsForParts(const LtoSelection& lto, const LinkOptions& options);

// Whether results were parts of the program, linked with one another or with other code without the
// host's references having had a say in what was compiled.
bool IsPartialLto(const LtoSelection& lto, const LinkOptions& options);

}  // namespace devlink::internal
