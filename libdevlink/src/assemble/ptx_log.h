// SPDX-License-Identifier: Apache-2.0
//
// What the assemblers print, as data.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "devlink/experimental/ptx_assembler.h"

namespace devlink::internal {

// In front of a line that the libraries mark as belonging to the one before it; the program and
// nvlink indent it only.
inline constexpr std::string_view kContinuationMark = "ptxas         . ";

// A log as nvPTXCompiler and nvJitLink hand it out: its size with the NUL, then its text. Empty
// where there is none, or no `handle`.
std::string FetchLog(void* handle, int (*get_size)(void*, std::size_t*), int (*get)(void*, char*));

// One text of nvPTXCompiler's or nvJitLink's two, in which the order between errors on the one hand
// and warnings and infos on the other is lost: put together by line number, warnings first.
std::string MergeLogs(std::string_view infos, std::string_view errors);

// Lines of a log into `result`: diagnostics, and what -v says of each function.
// `hide_verbose` leaves out the lines that only -v brings about.
void ReadLog(std::string_view log, std::string_view input, bool hide_verbose, PtxResult& result);

// The status of a text that was refused, by what the log says: Unimplemented where the assembler
// knows neither the target nor the version of the text, ResourceExhausted where a function cannot
// do with the registers that it may have. Any other stays as it is.
absl::Status WithItsCause(const absl::Status& refused, const std::vector<Diagnostic>& log);

// Major and minor number of the latest version of PTX that the assembler reads, which it names
// where a text is of a later one.
std::optional<std::pair<int, int>> LatestPtxIsaIn(const std::vector<Diagnostic>& log);

}  // namespace devlink::internal
