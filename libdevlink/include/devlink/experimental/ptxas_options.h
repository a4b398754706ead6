// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/ptxas_options.h
//
// From typed options to the argument vector that nvlink hands to the PTX assembler inside it.
//
//   auto arguments = devlink::PtxasOptionBuilder(target).Debug(true).Xptxas("-O1,-v").Build();
//
// The order of the words matters where options contradict each other (the last one wins, with a
// warning) or where one lacks its value and takes the next word. It was found by ending a list of
// words with an option that lacks its value, and reading in the message what it took instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/arch.h"
#include "devlink/diagnostics.h"

namespace devlink {

// ptxas --Ofast-compile. kOff adds nothing.
enum class FastCompile { kOff, kMin, kMid, kMax };

// A plain value; the setters may be called in any order, and of those for one value the last call
// counts. Nothing is checked before Build().
class PtxasOptionBuilder {
 public:
  explicit PtxasOptionBuilder(Arch target);

  // nvlink -g (without -suppress-debug-info).
  PtxasOptionBuilder& Debug(bool debug);

  // With Debug() and of what link-time optimization made: ptxas -no-bb-merge -ret-end.
  PtxasOptionBuilder& KeepBlocks(bool keep);

  // ptxas -c: code that still has to be linked, which is what nvlink makes of every PTX input.
  // False only for a whole program that comes out of link-time optimization.
  PtxasOptionBuilder& Relocatable(bool relocatable);

  // nvlink -maxrregcount, registers per thread. Zero and negative numbers mean no limit, as in
  // nvlink; more than three digits are refused.
  PtxasOptionBuilder& MaxRegisters(int registers);

  // nvlink -cuda-api-version, at most four characters such as "13.0". Empty: not given.
  PtxasOptionBuilder& CudaApiVersion(std::string_view version);

  // nvlink --Ofast-compile, which nvlink takes with -lto only.
  PtxasOptionBuilder& FastCompileLevel(FastCompile level);

  // nvlink -device-stack-protector.
  PtxasOptionBuilder& StackProtector(std::optional<bool> protect);

  // nvlink -split-compile: threads inside the assembler, 0 for all of the machine's, 1 for none.
  // Numbers that take more than three characters are refused.
  PtxasOptionBuilder& SplitCompile(int threads);

  // One value of nvlink -Xptxas as written on the command line; repeated calls add up. Words end at
  // commas, blanks and tabs, empty ones are dropped. Double quotes are removed and keep a comma
  // (but not a blank) inside a word; nothing escapes anything.
  PtxasOptionBuilder& Xptxas(std::string_view value);

  // The input is a fatbin member and carries this option text (fatbinary --cmdline), perhaps an
  // empty one. Its words end at blanks and tabs and precede all that is given for the link. Those
  // that ptxas --help does not list, that name files or ask for more threads than are reasonable
  // are refused by Build: whoever made the file does not decide what the assembler reads and
  // writes.
  PtxasOptionBuilder& MemberOptions(std::string_view text);

  // Whether numbers of more than three digits are refused, as nvlink does, by default true. ptxas
  // itself takes them: a register limit of 1000 it ignores with a warning.
  PtxasOptionBuilder& LimitNumbers(bool limit);

  // The input is PTX made by link-time optimization, for which nvlink orders its words otherwise.
  PtxasOptionBuilder& LinkTimeOptimized(bool optimized);

  // The arguments, the assembler's own name and input left out. InvalidArgument for a value that
  // nvlink refuses before it calls the assembler, and for a member's option that is refused;
  // `found`, where given, then receives a fatal line for it, nvlink's where nvlink has one.
  absl::StatusOr<std::vector<std::string>> Build(std::vector<Diagnostic>* found = nullptr) const;

 private:
  Arch target_;
  bool debug_ = false;
  bool keep_blocks_ = false;
  bool relocatable_ = true;
  bool link_time_optimized_ = false;
  bool limit_numbers_ = true;
  int max_registers_ = 0;
  int split_compile_ = 1;
  std::string cuda_api_version_;
  FastCompile fast_compile_ = FastCompile::kOff;
  std::optional<bool> stack_protector_;
  std::vector<std::string> xptxas_;
  std::optional<std::string> member_options_;
};

}  // namespace devlink
