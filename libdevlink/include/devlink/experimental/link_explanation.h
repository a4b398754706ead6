// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/link_explanation.h
//
// Why things are in the output of a link, and what they cost, in words. All of it is made of
// LinkReport::details, which LinkOptions::details asks for; without them every call here returns
// FailedPrecondition. Texts end with the end of a line, names are fit to be shown (control
// characters are escaped), and nothing depends on the machine or the time. Thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/link_report.h"

namespace devlink {

// The way from a kernel to a function, or why there is none. `symbol` is a mangled name, or a
// readable one with its parameters or without; of several functions of that name each is explained.
// NotFound, with names that are close, where no input has such a symbol.
absl::StatusOr<std::string> WhyLive(const LinkReport& report, std::string_view symbol);

// What an input brings, and for each of its functions who needs it; of one that is not linked, why.
// `input` is a name as messages have it, the last part of its path, or an archive with all members.
absl::StatusOr<std::string> WhyInput(const LinkReport& report, std::string_view input);

// Which of the functions that a kernel calls sets its registers, its stack and its barriers.
absl::StatusOr<std::string> WhyRegisters(const LinkReport& report, std::string_view kernel);

// Bytes of the output by kind of section, input, function and template, largest first; and what
// copies of the same function in several inputs cost.
absl::StatusOr<std::string> SizeTable(const LinkReport& report);

// All inputs, sections, kernels, functions and variables, as linkers for hosts write it.
absl::StatusOr<std::string> LinkMap(const LinkReport& report);

// One page that needs nothing else, not even a network: kernels and functions to search and sort,
// bytes by input, the calls of a kernel with registers and stack, why each function is there, and
// the diagnostics of the link. `title` heads it.
absl::StatusOr<std::string> ToHtml(const LinkReport& report,
                                   std::span<const Diagnostic> diagnostics, std::string_view title);

}  // namespace devlink
