// SPDX-License-Identifier: Apache-2.0
//
// The two logs of a handle, as NVIDIA's library words them: nvlink's lines without the name of a
// tool, the assembler's as its library hands them out, and lines of the interface itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "devlink/diagnostics.h"

namespace devlink::nvjitlink {

class Logs {
 public:
  // A line, which gets its end here.
  void Error(std::string_view line) { Append(line, error_); }
  void Info(std::string_view line) { Append(line, info_); }

  // How long something took, in milliseconds.
  void Time(std::string_view what, std::uint64_t nanoseconds);

  // Text that is whole lines already.
  void ErrorText(std::string_view text) { error_ += text; }

  // Findings of a link or of the assembler: errors to the one log, warnings and infos to the other.
  // Notes are left out, since nobody else's log has them, but for that on a finalizer that failed.
  void Add(std::span<const Diagnostic> findings);

  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] const std::string& info() const { return info_; }

 private:
  static void Append(std::string_view line, std::string& log) {
    log += line;
    log += '\n';
  }

  std::string error_;
  std::string info_;
};

}  // namespace devlink::nvjitlink
