// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/cicc_option_builder.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/status/status.h"
#include "assemble/option_builders.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "devlink/experimental/nvvm_program.h"
#include "format/make_diagnostic.h"
#include "lto/xnvvm.h"

namespace devlink {

using internal::FastCompileWord;
using internal::RefuseOption;

namespace {

using Words = std::vector<std::string>;

void Inform(std::vector<Diagnostic>* found, const char* text) {
  if (found == nullptr) return;
  found->push_back(format::MakeDiagnostic(Severity::kInfo, DiagnosticCode::kUsage, "", text));
}

// --- Host references ---------------------------------------------------------------------------

// A list that takes every name at its front and holds it once. Kept back to front.
class NameList {
 public:
  void Add(const std::string& name) {
    const auto [at, is_new] = place_.try_emplace(name, names_.size());
    if (!is_new) names_[at->second].reset();
    at->second = names_.size();
    names_.emplace_back(name);
  }
  void AddAll(const HostReferences::List& list) {
    for (const std::string& name : list.names) Add(name);
  }
  // `-host-ref-ek=last,first`; nothing for an empty list.
  void AppendTo(Words& words, std::string_view option) const {
    if (names_.empty()) return;
    std::string word(option);
    for (auto name = names_.rbegin(); name != names_.rend(); ++name) {
      if (!name->has_value()) continue;
      if (name != names_.rbegin()) word += ',';  // what was added last is there for certain
      word += **name;
    }
    words.push_back(std::move(word));
  }

 private:
  std::vector<std::optional<std::string>> names_;
  std::unordered_map<std::string, std::size_t> place_;
};

struct HostInformation {
  // Says that host references are known; goes into the vector in front of -Xnvvm.
  bool global = true;
  Words lists;
};

HostInformation FromInputs(const std::vector<CiccOptionBuilder::HostInput>& inputs) {
  HostInformation out;
  bool every_input_speaks = true;
  bool names_kernels = false;
  std::array<NameList, 6> lists;
  for (const auto& [references, is_device_runtime] : inputs) {
    // An object counts as one with lists if it has the first of them. Compilers that wrote lists of
    // kernels only are not trusted with variables: without .nvHRDE no global information. A later
    // object without lists sets that back, which looks like an accident but decides the vector.
    if (!references.kernels_external.present) {
      every_input_speaks = false;
      out.global = true;
      continue;
    }
    if (!is_device_runtime) {
      if (!references.variables_external.present) out.global = false;
      if (!references.kernels_external.names.empty() ||
          !references.kernels_internal.names.empty()) {
        names_kernels = true;
      }
    }
    lists[0].AddAll(references.kernels_external);
    lists[1].AddAll(references.kernels_internal);
    lists[2].AddAll(references.constants_external);
    lists[3].AddAll(references.constants_internal);
    lists[4].AddAll(references.variables_external);
    lists[5].AddAll(references.variables_internal);
  }
  if (!every_input_speaks || !names_kernels) return out;
  constexpr std::array<std::string_view, 6> kOptions = {
      "-host-ref-ek=", "-host-ref-ik=", "-host-ref-ec=",
      "-host-ref-ic=", "-host-ref-eg=", "-host-ref-ig="};
  for (std::size_t i = 0; i < lists.size(); ++i) lists[i].AppendTo(out.lists, kOptions[i]);
  return out;
}

// `*a*,*b*`, each pattern once; empty where there is none but empty texts. A text that brings its
// own star at an end gets no second one there.
std::string Patterns(const std::vector<std::string>& parts) {
  std::string out;
  std::unordered_set<std::string> seen;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    const std::string pattern =
        base::Cat({part.front() == '*' ? "" : "*", part, part.back() == '*' ? "" : "*"});
    if (!seen.insert(pattern).second) continue;
    if (!out.empty()) out += ',';
    out += pattern;
  }
  return out;
}

HostInformation FromCommandLine(const std::string& kernels, const std::string& variables) {
  HostInformation out;
  for (const std::string_view kind : {"ek", "ik"}) {
    if (!kernels.empty()) out.lists.push_back(base::Cat({"-host-ref-", kind, "=", kernels}));
  }
  for (const std::string_view kind : {"ec", "ic", "eg", "ig"}) {
    if (!variables.empty()) out.lists.push_back(base::Cat({"-host-ref-", kind, "=", variables}));
  }
  return out;
}

// --- Math options ------------------------------------------------------------------------------

struct MathOption {
  std::string_view option;
  int AgreedOptions::* value;
};
constexpr std::array<MathOption, 4> kMathOptions = {{{"-ftz=", &AgreedOptions::ftz},
                                                     {"-prec-div=", &AgreedOptions::prec_div},
                                                     {"-prec-sqrt=", &AgreedOptions::prec_sqrt},
                                                     {"-fma=", &AgreedOptions::fmad}}};
constexpr std::size_t kPrecDiv = 1;
constexpr std::size_t kPrecSqrt = 2;

// Which of kMathOptions a word of -Xnvvm makes nvlink's own one superfluous.
std::optional<std::size_t> OverridesMath(std::string_view word, const NvvmVectorPolicy& policy) {
  for (std::size_t i = 0; i < kMathOptions.size(); ++i) {
    if (!word.starts_with(kMathOptions[i].option)) continue;
    return i == kPrecSqrt && policy.repeats_prec_sqrt ? kPrecDiv : i;
  }
  return std::nullopt;
}

}  // namespace

LtoScope ScopeOf(const LtoLinkShape& shape) {
  if (shape.relocatable_link || shape.force_partial || shape.has_other_code) {
    return LtoScope::kPartial;
  }
  return shape.has_device_runtime ? LtoScope::kWithDeviceRuntime : LtoScope::kWhole;
}

bool ResultIsWholeProgram(const LtoLinkShape& shape, int code, int pieces) {
  if (pieces > 1 || ScopeOf(shape) == LtoScope::kPartial) return false;
  return shape.force_whole || code == kNvvmWholeProgram;
}

absl::StatusOr<FastCompile> ParseFastCompile(std::string_view value,
                                             std::vector<Diagnostic>* found) try {
  if (value == "0") return FastCompile::kOff;
  for (const FastCompile level : {FastCompile::kMin, FastCompile::kMid, FastCompile::kMax}) {
    if (value == FastCompileWord(level)) return level;
  }
  return RefuseOption(found, "Invalid argument for option '--Ofast-compile'",
                      base::Cat({"'", value, "' is none of 0, min, mid and max"}));
} catch (...) {
  return base::StatusOfException();
}

CiccOptionBuilder::CiccOptionBuilder(Arch target, NvvmVectorPolicy policy)
    : target_(target), policy_(policy) {}

CiccOptionBuilder& CiccOptionBuilder::Agreed(const AgreedOptions& agreed) {
  agreed_ = agreed;
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::KeepArchSuffix(bool keep) {
  keep_arch_suffix_ = keep;
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::Scope(LtoScope scope) {
  scope_ = scope;
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::Debug(bool debug) {
  debug_ = debug;
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::EmitPtx(bool emit) {
  emit_ptx_ = emit;
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::MaxRegisters(int registers) {
  max_registers_ = registers;
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::SplitCompile(int threads) {
  split_compile_ = threads;
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::SplitCompileExtended(int threads) {
  split_compile_extended_ = threads;
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::FastCompileLevel(std::optional<FastCompile> level) {
  fast_compile_ = level;
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::Xnvvm(std::string_view value) {
  xnvvm_.emplace_back(value);
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::IgnoreHostInfo(bool ignore) {
  ignore_host_info_ = ignore;
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::KernelsUsed(std::vector<std::string> parts) {
  kernels_used_ = std::move(parts);
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::VariablesUsed(std::vector<std::string> parts) {
  variables_used_ = std::move(parts);
  return *this;
}

CiccOptionBuilder& CiccOptionBuilder::AddHostReferences(const HostReferences& references,
                                                        bool is_device_runtime) {
  host_references_.push_back({references, is_device_runtime});
  return *this;
}

bool CiccOptionBuilder::KeepsArchSuffix() const {
  return keep_arch_suffix_ || !policy_.drops_arch_suffix;
}

bool CiccOptionBuilder::NeedsSecondAttempt() const {
  return target_.variant != 0 && !KeepsArchSuffix() && !policy_.fails_without_arch_suffix;
}

Arch CiccOptionBuilder::AssemblerTarget() const {
  return target_.variant == 'f' && !KeepsArchSuffix() ? Arch{target_.number, 0} : target_;
}

CiccOptionBuilder::SplitChoice CiccOptionBuilder::Split() const {
  SplitChoice out;
  const int asked = agreed_.split_compile.value_or(split_compile_);
  out.assembler = asked;
  if (split_compile_extended_ != 1 && !emit_ptx_) {
    out.extended = split_compile_extended_;
  } else {
    // For PTX the extended number serves where there is no other.
    out.plain = asked == 1 ? split_compile_extended_ : asked;
  }
  return out;
}

int CiccOptionBuilder::MaxRegistersInForce() const {
  return std::max(0, max_registers_ != 0 ? max_registers_ : agreed_.max_registers);
}

void CiccOptionBuilder::CheckCommandLine(std::vector<Diagnostic>& found) const {
  if (split_compile_extended_ == 1 || !emit_ptx_) return;
  Inform(&found,
         "Incompatible options '-emit-ptx' and '-split-compile-extended', using "
         "'-split-compile'");
}

absl::StatusOr<std::vector<std::string>> CiccOptionBuilder::Build(
    std::vector<Diagnostic>* found) const try {
  Words out;
  const bool keeps_suffix = target_.variant != 0 && KeepsArchSuffix();
  const Arch compiled_for{target_.number, keeps_suffix ? target_.variant : '\0'};
  out.push_back(base::Cat({"-arch=", compiled_for.VirtualName()}));
  out.emplace_back("-link-lto");

  const SplitChoice split = Split();
  if (split_compile_extended_ != 1 && !emit_ptx_ && split.assembler != 1) {
    Inform(found,
           "Incompatible options '-split-compile' and '-split-compile-extended', using "
           "'-split-compile-extended'");
  }
  if (split.extended != 1) {
    out.push_back(base::Cat({"-split-compile-extended=", std::to_string(split.extended)}));
  }
  if (split.plain != 1) {
    out.push_back(base::Cat({"-split-compile=", std::to_string(split.plain)}));
  }

  if (fast_compile_.has_value() && *fast_compile_ != FastCompile::kOff) {
    out.push_back(base::Cat({"-Ofast-compile=", FastCompileWord(*fast_compile_)}));
  }
  if (const int registers = MaxRegistersInForce(); registers > 0) {
    out.push_back(base::Cat({"-maxreg=", std::to_string(registers)}));
  }
  if (agreed_.line_info) out.emplace_back("-generate-line-info");
  if (agreed_.inline_info) out.emplace_back("-inline-info");
  if (scope_ != LtoScope::kWhole) out.emplace_back("--device-c");
  if (scope_ == LtoScope::kPartial) out.emplace_back("--force-device-c");
  if (debug_) out.emplace_back("-g");
  if (debug_ && policy_.debug_is_unoptimized) out.emplace_back("-opt=0");

  HostInformation host;
  host.global = false;
  if (scope_ != LtoScope::kPartial) {
    const std::string kernels = Patterns(kernels_used_);
    const std::string variables = Patterns(variables_used_);
    if (!kernels.empty() || !variables.empty()) {
      host = FromCommandLine(kernels, variables);
    } else if (!ignore_host_info_) {
      host = FromInputs(host_references_);
    }
  }
  if (host.global) out.emplace_back("-has-global-host-info");

  DEVLINK_RETURN_IF_ERROR(AppendXnvvm(found, out));
  out.insert(out.end(), host.lists.begin(), host.lists.end());
  return out;
} catch (...) {
  return base::StatusOfException();
}

absl::Status CiccOptionBuilder::AppendXnvvm(std::vector<Diagnostic>* found,
                                            std::vector<std::string>& out) const {
  Words words;
  for (const std::string& value : xnvvm_) {
    DEVLINK_RETURN_IF_ERROR(internal::AppendXnvvmWords(value, words, found));
  }
  constexpr std::array<std::string_view, 6> kNotTwice = {
      "-has-global-host-info", "-g",         "-generate-line-info",
      "-inline-info",          "--device-c", "--force-device-c"};
  const Words own = out;
  const auto is_own = [&own](std::string_view word) {
    return std::find(own.begin(), own.end(), word) != own.end();
  };
  std::array<bool, kMathOptions.size()> overridden{};
  for (std::string& word : words) {
    if (word == "-link-lto" || word == "-compile-time") continue;
    if (fast_compile_.has_value() && word.starts_with("-Ofast-compile=")) continue;
    if (is_own(word) && std::find(kNotTwice.begin(), kNotTwice.end(), word) != kNotTwice.end()) {
      continue;
    }
    if (const auto math = OverridesMath(word, policy_)) overridden[*math] = true;
    out.push_back(std::move(word));
  }
  if (words.empty() && policy_.math_options_need_xnvvm) return absl::OkStatus();
  for (std::size_t i = 0; i < kMathOptions.size(); ++i) {
    if (overridden[i]) continue;
    out.push_back(
        base::Cat({kMathOptions[i].option, std::to_string(agreed_.*kMathOptions[i].value)}));
  }
  return absl::OkStatus();
}

}  // namespace devlink
