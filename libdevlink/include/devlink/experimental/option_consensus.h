// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/option_consensus.h
//
// What the modules of a link with LTO want to be compiled with. nvcc writes the options of cicc
// into the fat binary beside the LTO IR; a link compiles all modules at once, so they have to
// agree.
//
//   devlink::OptionConsensus consensus;
//   consensus.Vote("a.o", "-ftz=1 -maxreg 32");
//   consensus.Vote("b.o", "-ftz=0");
//   consensus.Reason(MemberOption::kFtz);   // "-ftz: a.o says 1, b.o says 0"
//   auto agreed = consensus.Resolve({}, &diagnostics);   // fails, as nvlink does
//
// The rules were measured with nvlink 13.0 and stand in docs/lto-options.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"

namespace devlink {

// The options that are looked for, in the order in which nvlink speaks of them.
enum class MemberOption : std::uint8_t {
  kLineInfo,      // -generate-line-info
  kMaxRegisters,  // -maxreg N
  kFtz,           // -ftz=N
  kPrecDiv,       // -prec_div=N
  kPrecSqrt,      // -prec_sqrt=N
  kFmad,          // -fmad=N
  kSplitCompile,  // -split-compile N
  kInlineInfo,    // -inline-info, a flag
};
inline constexpr std::size_t kMemberOptionCount = 8;

// Where an option stands when some modules have been asked. Each state can be told from outside.
enum class ConsensusState : std::uint8_t {
  kNone,      // no module has the option
  kValue,     // every module has it, with one value
  kMixed,     // some have it, with one value, and some do not
  kConflict,  // two values
};

// What one module says of one option; flags have the value 1.
struct OptionVote {
  std::string module;        // its name in diagnostics
  std::optional<int> value;  // empty where it does not have the option
};

// What the modules agree on; the defaults are what stands where none of them has the option.
// Numbers are as in the modules, unchecked: nvlink hands on any.
struct AgreedOptions {
  int ftz = 0;                       // 1: denormal numbers are flushed to zero
  int prec_div = 1;                  // 0: division may be less precise than IEEE 754
  int prec_sqrt = 1;                 // 0: so may square roots
  int fmad = 1;                      // 1: multiplication and addition become one operation
  int max_registers = 0;             // as nvlink -maxrregcount; 0 and below: no limit
  std::optional<int> split_compile;  // as nvlink -split-compile, which loses to it
  bool line_info = false;            // -generate-line-info: tables of source lines
  bool inline_info = false;          // -inline-info: what was inlined where
};

// What the command line says that bears on whether modules have to agree. (-Xnvvm -ftz=1 does not:
// it wins over the modules, but they still have to agree.)
struct ConsensusOverrides {
  int max_registers = 0;  // nvlink -maxrregcount; unless 0 modules are not compared and not heard
};

// Collects votes in the order of the inputs. A value; not safe for several threads at once unless
// none of them votes. Cheap: a module costs eight searches in its option text.
class OptionConsensus {
 public:
  // One module takes part: a kind-8 member of a fat binary, in a file of its own or in a host
  // object, with its option text (FatbinMember::options), perhaps empty. `module` is the name for
  // diagnostics. Inputs that have no option text by nature, which are raw .ltoir and .nvvm files,
  // have no vote at all, not even an absent one: do not call it for them.
  //
  // Reads as nvlink does: the first occurrence of the option's text anywhere, also within a word;
  // the number behind it as strtol reads it to base 10, cut to 32 bits; 0 where there is none.
  void Vote(std::string_view module, std::string_view option_text);

  // Where an option stands after all votes so far.
  [[nodiscard]] ConsensusState state(MemberOption option) const;
  // The value of the first module that has the option; empty in state kNone.
  [[nodiscard]] std::optional<int> value(MemberOption option) const;
  // One for each module, in order.
  [[nodiscard]] const std::vector<OptionVote>& votes(MemberOption option) const;

  // The state in one line, for people: `-ftz: a.o says 1, b.o says 0, c.o and 3 more say nothing`.
  [[nodiscard]] std::string Reason(MemberOption option) const;

  // What to compile with. Adds to `found`, where given, nvlink's lines in nvlink's order, each with
  // Reason() as a note: info lines for -lineinfo and -maxrregcount where some modules lack them.
  // InvalidArgument, and a fatal diagnostic, for the first option in state kConflict. nvlink says
  // all this when every module was handed to libNVVM, before it builds the option vector.
  absl::StatusOr<AgreedOptions> Resolve(const ConsensusOverrides& given = {},
                                        std::vector<Diagnostic>* found = nullptr) const;

 private:
  struct Tracker {
    ConsensusState state = ConsensusState::kNone;
    std::optional<int> value;
    std::vector<OptionVote> votes;
  };
  [[nodiscard]] const Tracker& Of(MemberOption option) const;

  std::array<Tracker, kMemberOptionCount> trackers_;
};

}  // namespace devlink
