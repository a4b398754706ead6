// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/progress.h
//
// How far a long link has come, told while it runs. Progress never changes what is linked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace devlink {

// In the order in which a link goes through them; a link without LTO modules or PTX leaves those
// phases out.
enum class LinkPhase : std::uint8_t {
  kReading,     // inputs are read
  kChoosing,    // code is chosen among what each input offers
  kLtoCompile,  // libNVVM, or libnvJitLink in its place
  kAssembling,  // PTX to cubins
  kLinking,
  kWriting,
};

struct ProgressEvent {
  LinkPhase phase = LinkPhase::kReading;
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
  virtual void Report(const ProgressEvent& event) = 0;
};

// "assembling 3 of 12: a.ptx", for a line on a terminal. Control characters in the subject become
// question marks. What is longer than `width` bytes is cut in the middle of the subject, between
// characters of UTF-8.
std::string ProgressText(const ProgressEvent& event, std::size_t width = 79);

}  // namespace devlink
