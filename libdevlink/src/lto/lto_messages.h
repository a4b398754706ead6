// SPDX-License-Identifier: Apache-2.0
//
// nvlink's lines about link-time optimization.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "devlink/diagnostics.h"

namespace devlink::internal {

inline constexpr std::string_view kLibraryFailed = "elfLink linker library load error";
inline constexpr std::string_view kInternalError = "elfLink internal error";
inline constexpr std::string_view kModuleRefused = "elfLink nvvm error";
inline constexpr std::string_view kFatbinRefused = "elfLink fatbinary error";
inline constexpr std::string_view kCompilationFailed = "elfLink JIT compile failed";

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
