// SPDX-License-Identifier: Apache-2.0
//
// nvlink's lines about link-time optimization.
#pragma once

#include <string>
#include <string_view>
#include <utility>

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

// What libNVVM said, as one info line of several lines' length.
inline Diagnostic LtoInfo(std::string text) {
  Diagnostic out;
  out.code = DiagnosticCode::kLtoCompilation;
  out.severity = Severity::kInfo;
  out.text = std::move(text);
  return out;
}

}  // namespace devlink::internal
