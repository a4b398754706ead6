// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/time_trace.h
//
// Records where the time of a link goes, in the trace format of Chrome's `about:tracing`, Perfetto
// and Speedscope.
//
//   devlink::TimeTrace trace;
//   {
//     devlink::TimeSpan span(&trace, "merge");
//     ...
//   }
//   std::string json = trace.Json();
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace devlink {

// Spans of time that many threads may add to at once.
class TimeTrace {
 public:
  // Any clock that never goes back: time since a moment of its own.
  using Clock = std::function<std::chrono::nanoseconds()>;

  // Times count from here. `clock` is called by every thread that records; without one it is
  // std::chrono::steady_clock.
  explicit TimeTrace(Clock clock = {});
  TimeTrace(const TimeTrace&) = delete;
  TimeTrace& operator=(const TimeTrace&) = delete;

  // Since the trace was made.
  [[nodiscard]] std::chrono::nanoseconds Now() const;

  // A span of the calling thread. `detail` says what it was about (an input, a kernel); may be
  // empty.
  void Add(std::string_view name, std::string_view detail, std::chrono::nanoseconds begin,
           std::chrono::nanoseconds end);

  // All spans that have ended, by thread and begin, as a JSON object with `traceEvents`; times in
  // microseconds. Valid JSON whatever the names hold: bytes that are not UTF-8 become U+FFFD.
  [[nodiscard]] std::string Json() const;

 private:
  struct Span {
    std::string name;
    std::string detail;
    std::chrono::nanoseconds begin;
    std::chrono::nanoseconds end;
    std::uint32_t thread = 0;  // counted from 0 as they come
  };

  Clock clock_;
  std::chrono::nanoseconds start_;
  mutable std::mutex mutex_;
  std::vector<Span> spans_;
  std::vector<std::thread::id> threads_;
};

// A run of a compiler within a link, as nvlink -time lists it. A plain value.
struct CompilerRun {
  std::string compiler;  // ptxas, or cicc for what compiles LTO IR
  std::string source;    // what was compiled and what came out, in the words of nvlink -time
  std::string input;     // the file that was compiled; may be empty, as nvlink leaves it
  std::string output;    // the file that came out
  std::chrono::nanoseconds time{0};  // from its start to its end
};

// Records the time from its making to its end. Borrows the trace, which may be null: then it does
// nothing and reads no clock. `name` must live as long as the span.
class TimeSpan {
 public:
  explicit TimeSpan(TimeTrace* trace, std::string_view name, std::string_view detail = {})
      : trace_(trace), name_(name) {
    if (trace_ == nullptr) return;
    detail_ = detail;
    begin_ = trace_->Now();
  }
  ~TimeSpan() {
    if (trace_ != nullptr) trace_->Add(name_, detail_, begin_, trace_->Now());
  }
  TimeSpan(const TimeSpan&) = delete;
  TimeSpan& operator=(const TimeSpan&) = delete;

 private:
  TimeTrace* trace_;
  std::string_view name_;
  std::string detail_;
  std::chrono::nanoseconds begin_{};
};

}  // namespace devlink
