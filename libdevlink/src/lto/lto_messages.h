// SPDX-License-Identifier: Apache-2.0
//
// nvlink's lines about link-time optimization.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/diagnostics.h"
#include "format/nvlink_text.h"

namespace devlink::internal {

inline constexpr std::string_view kLibraryFailed = format::nvlink_text::kLibraryLoadError;
inline constexpr std::string_view kInternalError = format::nvlink_text::kInternalError;
inline constexpr std::string_view kModuleRefused = format::nvlink_text::kNvvmError;
inline constexpr std::string_view kFatbinRefused = format::nvlink_text::kFatbinaryError;
inline constexpr std::string_view kCompilationFailed = format::nvlink_text::kJitCompileFailed;

inline Diagnostic LtoFatal(std::string_view text, std::string_view note,
                           std::string_view input = {}) {
  Diagnostic out;
  out.code = DiagnosticCode::kLtoCompilation;
  out.severity = Severity::kFatal;
  out.text = text;
  out.input = input;
  if (!note.empty()) out.notes.emplace_back(note);
  return out;
}

// What libNVVM said: an info line, and its further lines as they stand.
inline void AddLtoLog(std::string_view log, std::vector<Diagnostic>& diagnostics) {
  for (bool is_first = true, more = true; more; is_first = false) {
    const std::size_t end = log.find('\n');
    more = end != std::string_view::npos;
    diagnostics.push_back({.code = DiagnosticCode::kLtoCompilation,
                           .severity = Severity::kInfo,
                           .text = std::string(log.substr(0, end)),
                           .verbatim = !is_first});
    if (more) log.remove_prefix(end + 1);
  }
}

}  // namespace devlink::internal
