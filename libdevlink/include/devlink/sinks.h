// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/sinks.h
//
// What a caller may hand to a link to be told things: log lines, progress, and the output itself in
// pieces. The library writes nothing by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace devlink {

// ---- Log lines ----

// How much of what a link does a line tells.
enum class LogLevel {
  kDebug,  // each input and what became of it: all lines of this release
  kInfo,   // nothing yet
};

// Receives lines such as "merged 12 modules into 340 sections". Called on the thread that runs the
// session; one sink may serve several sessions only if it is itself thread-safe.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // True where a line of this level would be kept; the library formats nothing otherwise.
  [[nodiscard]] virtual bool Wants(LogLevel level) const = 0;
  // Takes one line, without its end and only of a level that is wanted. `line` is valid during the
  // call.
  virtual void Write(LogLevel level, std::string_view line) = 0;
};

// ---- Progress: how far a long link has come. It never changes what is linked. ----

// In the order in which a link goes through them; a link without LTO modules or PTX leaves those
// phases out.
enum class LinkPhase : std::uint8_t {
  kReading,     // inputs are read
  kLtoCompile,  // libNVVM, or libnvJitLink in its place
  kAssembling,  // PTX to cubins
  kLinking,     // one program is made of all cubins
  kWriting,     // the output is laid out and written
};

// How far a link has come. `subject` is valid during the call only.
struct ProgressEvent {
  LinkPhase phase = LinkPhase::kReading;  // what the link is at
  // Steps of the phase: inputs, texts, programs. `total` is 0 where their number is not known.
  std::uint32_t done = 0;
  std::uint32_t total = 0;
  std::string_view subject;  // the input or piece that the next step is about; may be empty
};

// Told when a phase begins (`done` is 0) and whenever some of its steps have been done, not
// necessarily after each. All calls come from the thread that runs the session, also while other
// threads do the work, so a sink of one session needs no lock. Report must return quickly and must
// not call the session.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  // Must return quickly, and must not call the session.
  virtual void Report(const ProgressEvent& event) = 0;
};

// "assembling 3 of 12: a.ptx", for a line on a terminal. Control characters in the subject become
// question marks. What is longer than `width` bytes is cut in the middle of the subject, between
// characters of UTF-8.
std::string ProgressText(const ProgressEvent& event, std::size_t width = 79);

// ---- Where a file goes that is never whole in memory ----

// Takes a file from its first byte to its last. Begin and Append are called on the thread that
// writes, Expect perhaps on another, and no two at the same time; an error ends the writing and is
// what the writer returns. What was appended until then is not a
// file: a sink that keeps files writes to a temporary one and renames it when the writer has
// returned.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  // A link knows by now about how large the file will be, in bytes, and will take a while until it
  // is written: room may be made for it meanwhile. Called before Begin, or not at all; neither the
  // size nor the file need come. What goes wrong is for Begin to say.
  virtual void Expect(std::uint64_t /*about*/) {}
  // Called once, before anything is appended, with the size of the file in bytes.
  virtual absl::Status Begin(std::uint64_t size) = 0;
  // The next bytes of the file. They are valid during the call only.
  virtual absl::Status Append(std::span<const std::uint8_t> bytes) = 0;
};

}  // namespace devlink
