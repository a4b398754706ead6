// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/log.h
//
// The library writes no log by itself. A caller that wants to watch it work passes a sink.
#pragma once

#include <string_view>

namespace devlink {

enum class LogLevel { kDebug, kInfo };

// Receives lines such as "merged 12 modules into 340 sections". Called on the thread that runs the
// session; one sink may serve several sessions only if it is itself thread-safe.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // True where a line of this level would be kept; the library formats nothing otherwise.
  [[nodiscard]] virtual bool Wants(LogLevel level) const = 0;
  virtual void Write(LogLevel level, std::string_view line) = 0;
};

}  // namespace devlink
