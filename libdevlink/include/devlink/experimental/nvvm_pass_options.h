// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/nvvm_pass_options.h
//
// The knobs of libNVVM's optimiser, and values for some of them. libNVVM takes each as two words,
// `-Xopt` and `-name=value`. It is a careless reader of them: a name that it does not know is a
// line in the log of a successful compilation, a number that is none counts as 0, a missing word or
// a request for help ends the process. So names and values are checked here, against tables that
// were made by asking the library. docs/optimiser-knobs.md has the experiments.
//
//   auto options = devlink::NvvmPassOptions::Create(*devlink::Arch::Parse("sm_90"));
//   if (auto s = options.Set("unroll-count", "4"); !s.ok()) return s;
//   options.ToArguments();  // {"-Xopt", "-unroll-count=4"}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/arch.h"

namespace devlink {

// libNVVM holds two compilers, each with knobs of its own. The target decides which one works.
enum class NvvmGeneration : std::uint8_t {
  kLlvm7,   // targets before sm_100
  kLlvm20,  // sm_100 and later
};
// The compiler that works for a target.
NvvmGeneration NvvmGenerationOf(const Arch& target);

// What values a knob takes.
enum class NvvmKnobKind : std::uint8_t {
  kBoolean,   // nothing, 0, 1, true, false
  kInteger,   // signed, 32 bits
  kUnsigned,  // 32 bits
  kLong,      // unsigned, 64 bits
  kNumber,    // decimal fraction
  kText,      // anything that is not empty
  kChoice,    // one of the words that only libNVVM knows
};

// How sure it is that the knob does what is said of it.
enum class NvvmKnobConfidence : std::uint8_t {
  kMeasured,      // libNVVM accepts it, and it changed the code of a sample program
  kAccepted,      // libNVVM accepts it; no change of code was seen
  kDocumentOnly,  // described, but libNVVM does not know it; never let through
};

// How long a value lasts within libNVVM.
enum class NvvmKnobScope : std::uint8_t {
  kProgram,  // for the program that it is given to
  kLibrary,  // for every later program that the same copy of the library in memory compiles
};

// What is known of one knob.
struct NvvmKnob {
  std::string_view name;                       // without `-`
  NvvmKnobKind kind = NvvmKnobKind::kBoolean;  // values of other kinds are refused
  std::string_view default_value;              // empty where it is not known
  std::string_view pass;  // what it steers; empty where nothing but the name says so
  NvvmKnobConfidence confidence =
      NvvmKnobConfidence::kAccepted;              // kDocumentOnly is never let through
  NvvmKnobScope scope = NvvmKnobScope::kLibrary;  // how long a value lasts
};

// The knob of that name, also one that libNVVM refuses (NvvmKnobConfidence says so), or nothing.
// The views in it live as long as the program.
std::optional<NvvmKnob> FindNvvmKnob(std::string_view name, NvvmGeneration generation);

// All that are known, sorted by name, those that libNVVM refuses included.
std::vector<NvvmKnob> NvvmKnobs(NvvmGeneration generation);

// Values for knobs. A plain value: a copy per thread shares nothing with its original, and const
// functions may be called on several threads at once.
class NvvmPassOptions {
 public:
  explicit NvvmPassOptions(NvvmGeneration generation) : generation_(generation) {}
  explicit NvvmPassOptions(const Arch& target) : generation_(NvvmGenerationOf(target)) {}

  // Reads `-Xopt` `-name[=value]` out of a list of words for libNVVM; `--name` means the same, and
  // so does the value as a word of its own (`-Xopt -name -Xopt value`) for knobs that need one.
  // Other words are appended to `others`, in their order; without `others` they are an error.
  // InvalidArgument as for Set, and where `-Xopt` is the last word.
  static absl::StatusOr<NvvmPassOptions> Parse(std::span<const std::string> words,
                                               NvvmGeneration generation,
                                               std::vector<std::string>* others = nullptr);

  // A value for a knob, in place of one that it has. No value means that the knob is only named,
  // which booleans allow. InvalidArgument for a name that libNVVM does not know for these targets
  // (with the nearest that it knows), for one that would end the process or load code, and for a
  // value that is not of the knob's kind; nothing is changed then.
  absl::Status Set(std::string_view name, std::optional<std::string_view> value = std::nullopt);

  // The same from `-name=value` or `-name`.
  absl::Status SetWord(std::string_view word);

  // Takes back what was set.
  void Clear(std::string_view name);

  // What was set; empty where nothing was. A knob that was only named has the value "1".
  [[nodiscard]] std::optional<std::string_view> Value(std::string_view name) const;

  // A boolean knob as the optimiser resolves it, its default included.
  [[nodiscard]] bool IsOn(std::string_view name) const;

  // `-Xopt`, `-name=value` for each knob, in the order in which they were first set. Each knob
  // appears once: of several words for one knob, the older compiler takes the first and the newer
  // one the last.
  [[nodiscard]] std::vector<std::string> ToArguments() const;

  // Whether values stay in libNVVM beyond the program that they are given to
  // (NvvmKnobScope::kLibrary). Such a program needs a copy of the library, or a process, of its
  // own, or later ones are compiled with them too; NvvmProgram and LtoCompiler see to it.
  [[nodiscard]] bool OutlivesProgram() const;

  // Whether no knob has a value.
  [[nodiscard]] bool empty() const { return values_.empty(); }
  // The compiler whose knobs these are.
  [[nodiscard]] NvvmGeneration generation() const { return generation_; }

  friend bool operator==(const NvvmPassOptions&, const NvvmPassOptions&) = default;

 private:
  NvvmGeneration generation_;
  std::vector<std::pair<std::string, std::optional<std::string>>> values_;
};

}  // namespace devlink
