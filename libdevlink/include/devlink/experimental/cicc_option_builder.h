// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/cicc_option_builder.h
//
// From typed options to the option vector that nvlink hands to nvvmCompileProgram.
//
//   auto options = devlink::CiccOptionBuilder(target).Agreed(*agreed).Xnvvm("-opt=1").Build();
//   // -arch=compute_90 -link-lto -has-global-host-info -opt=1 -ftz=0 -prec-div=1 ...
//
// Order, filters and faults were recorded with a stand-in for libNVVM under nvlink 13.0
// (tests/link/lto_options_test.cc does it again); docs/lto-options.md lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "devlink/arch.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/host_references.h"
#include "devlink/experimental/option_consensus.h"
#include "devlink/experimental/ptxas_options.h"

namespace devlink {

// Which of nvlink's faults a link with LTO keeps. By default those that decide what is compiled,
// and none that fails a link that could succeed.
struct NvvmVectorPolicy {
  // `-arch` is compute_90 for sm_90a, and the assembler gets sm_100 for sm_100f. The PTX of code
  // that does not need the suffix is nvlink's only with this.
  bool drops_arch_suffix = true;
  // Code that needs the suffix fails, in libNVVM or in the assembler, and that is the end of it.
  // Otherwise such a failure calls for a second attempt: see CiccOptionBuilder::KeepArchSuffix.
  bool fails_without_arch_suffix = false;
  // `-Xnvvm -prec-sqrt=0` is passed together with nvlink's own -prec-sqrt, which libNVVM refuses,
  // and without -prec-div. Otherwise -prec-sqrt is treated like its three neighbours.
  bool repeats_prec_sqrt = false;
  // Without any -Xnvvm word the modules' -ftz, -prec_div, -prec_sqrt and -fmad are ignored.
  bool math_options_need_xnvvm = true;
  // Numbers of more than three digits are refused: see PtxasOptionBuilder::LimitNumbers.
  bool limits_numbers = false;
  // -g brings -opt=0: 13.5 on.
  bool debug_is_unoptimized = false;

  // All of nvlink's faults: --compat=nvlink.
  static constexpr NvvmVectorPolicy Nvlink() { return {true, true, true, true, true}; }
  // None of them. What is compiled may differ from what nvlink compiles.
  static constexpr NvvmVectorPolicy Corrected() { return {false, false, false, false, false}; }
};

// How much of the program libNVVM gets to see.
enum class LtoScope : std::uint8_t {
  kWhole,              // everything
  kWithDeviceRuntime,  // everything but libcudadevrt, which is not LTO IR: --device-c
  kPartial,            // other code is linked to it afterwards: --device-c --force-device-c
};

// What decides the scope.
struct LtoLinkShape {
  bool relocatable_link = false;    // nvlink -r, which implies -force-partial-lto
  bool force_partial = false;       // nvlink -force-partial-lto
  bool force_whole = false;         // nvlink -force-whole-lto
  bool has_other_code = false;      // an input that is not LTO IR, libcudadevrt left aside
  bool has_device_runtime = false;  // libcudadevrt is an input and not LTO IR
};
// The scope that nvlink chooses for a link of that shape.
LtoScope ScopeOf(const LtoLinkShape& shape);

// Whether the result of a compilation is a whole program, which is assembled without -c and then is
// the output, or relocatable code that is still to be linked. `code` is what nvvmCompileProgram
// returned (see NvvmResult::code); `pieces` the number of texts.
bool ResultIsWholeProgram(const LtoLinkShape& shape, int code, int pieces);

// A value of nvlink -Ofc: 0, min, mid or max. InvalidArgument and nvlink's fatal line otherwise.
absl::StatusOr<FastCompile> ParseFastCompile(std::string_view value,
                                             std::vector<Diagnostic>* found = nullptr);

// A plain value, for one thread at a time unless all only read it. The setters may be called in any
// order, and of those for one value the last call counts; Xnvvm and AddHostReferences add up.
// Nothing is checked before Build().
class CiccOptionBuilder {
 public:
  explicit CiccOptionBuilder(Arch target, NvvmVectorPolicy policy = {});

  // What OptionConsensus::Resolve gave.
  CiccOptionBuilder& Agreed(const AgreedOptions& agreed);

  // Keeps the suffix of a target such as sm_90a in spite of the policy. For the second attempt,
  // where NeedsSecondAttempt() says that there should be one.
  CiccOptionBuilder& KeepArchSuffix(bool keep);

  // How much of the program is compiled, as ScopeOf tells; LtoScope::kWhole if it is never called.
  CiccOptionBuilder& Scope(LtoScope scope);

  // nvlink -g (without -suppress-debug-info).
  CiccOptionBuilder& Debug(bool debug);

  // nvlink --emit-ptx, which rules extended split compilation out.
  CiccOptionBuilder& EmitPtx(bool emit);

  // nvlink -maxrregcount, which wins over the modules: with a negative number there is no limit.
  // Zero is as not given.
  CiccOptionBuilder& MaxRegisters(int registers);

  // nvlink -split-compile, -split-compile-extended: threads, 0 for all of the machine's, 1 as not
  // given.
  CiccOptionBuilder& SplitCompile(int threads);
  CiccOptionBuilder& SplitCompileExtended(int threads);

  // nvlink -Ofc; empty where it was not given, which is not the same as kOff: see Xnvvm.
  CiccOptionBuilder& FastCompileLevel(std::optional<FastCompile> level);

  // One value of nvlink -Xnvvm as written on the command line; repeated calls add up. Words end at
  // commas and blanks, empty ones are dropped; a tab or line end is part of a word. Double quotes
  // are removed and keep a comma (but not a blank) inside a word; a backslash keeps a blank. Left
  // out are words that would repeat what nvlink passes anyway, and every -Ofast-compile=L where
  // -Ofc was given.
  CiccOptionBuilder& Xnvvm(std::string_view value);

  // nvlink -ignore-host-info. (-use-host-info asks for the default.)
  CiccOptionBuilder& IgnoreHostInfo(bool ignore);

  // nvlink -kernels-used, -variables-used: parts of names, in which `*` stands for any characters.
  // Where any is given they count instead of the inputs' lists and overrule -ignore-host-info.
  // Empty texts do not count.
  CiccOptionBuilder& KernelsUsed(std::vector<std::string> parts);
  CiccOptionBuilder& VariablesUsed(std::vector<std::string> parts);

  // What one more input, in command-line order, says of its host code. One that says nothing, as a
  // host object without lists does, makes all lists void; inputs without host code, .ltoir and
  // .fatbin files, are not to be handed in. What libcudadevrt says (the display name contains
  // `cudadevrt`) is added to what others say, but counts for nothing alone.
  CiccOptionBuilder& AddHostReferences(const HostReferences& references,
                                       bool is_device_runtime = false);
  // What AddHostReferences was given once.
  struct HostInput {
    HostReferences references;       // as the input has them
    bool is_device_runtime = false;  // counts for nothing alone
  };

  // Adds nvlink's info line on options that do not go together, said when it has read its command
  // line and checked -use-host-info, before any input.
  void CheckCommandLine(std::vector<Diagnostic>& found) const;

  // Whether, after a failure of libNVVM or of the assembler, the same with KeepArchSuffix(true) is
  // to be tried. What it gives counts if it succeeds; if not, the first failure does. With
  // --emit-ptx nothing is assembled, and libNVVM fails rarely.
  [[nodiscard]] bool NeedsSecondAttempt() const;

  // What the assembler is to assemble for: nvlink asks for sm_90a where that is the target, but for
  // sm_100 where sm_100f is.
  [[nodiscard]] Arch AssemblerTarget() const;

  // The threads for split compilation that libNVVM and the assembler get in the end; 1 is none.
  struct SplitChoice {
    int extended = 1;   // -split-compile-extended of libNVVM
    int plain = 1;      // -split-compile of libNVVM
    int assembler = 1;  // -split-compile of the assembler
  };
  [[nodiscard]] SplitChoice Split() const;

  // nvlink -maxrregcount or what the modules agree on, for the assembler; 0: no limit.
  [[nodiscard]] int MaxRegistersInForce() const;

  // The words, in order. Adds nvlink's info lines to `found`, where given. InvalidArgument, with
  // nvlink's fatal line, for what nvlink refuses.
  absl::StatusOr<std::vector<std::string>> Build(std::vector<Diagnostic>* found = nullptr) const;

 private:
  [[nodiscard]] bool KeepsArchSuffix() const;
  absl::Status AppendXnvvm(std::vector<Diagnostic>* found, std::vector<std::string>& out) const;

  Arch target_;
  NvvmVectorPolicy policy_;
  AgreedOptions agreed_;
  bool keep_arch_suffix_ = false;
  LtoScope scope_ = LtoScope::kWhole;
  bool debug_ = false;
  bool emit_ptx_ = false;
  int max_registers_ = 0;
  int split_compile_ = 1;
  int split_compile_extended_ = 1;
  std::optional<FastCompile> fast_compile_;
  std::vector<std::string> xnvvm_;
  bool ignore_host_info_ = false;
  std::vector<std::string> kernels_used_;
  std::vector<std::string> variables_used_;
  std::vector<HostInput> host_references_;
};

}  // namespace devlink
