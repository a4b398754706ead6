// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/experimental/code_choice.h
//
// Which of the codes in a fat binary a link for one architecture takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "devlink/arch.h"

namespace devlink {

// What a member of a fat binary, or an input file, is.
enum class CodeKind : std::uint8_t {
  kOther,  // a kind that libdevlink does not know: never taken
  kPtx,    // PTX text
  kSass,   // a cubin
  kNvvm,   // LTO IR
};

// One of the codes to choose from. A plain value.
struct CodeCandidate {
  CodeKind kind = CodeKind::kOther;  // kOther is never taken
  Arch arch;             // PTX and LTO IR: the number and variant of the virtual architecture
  bool is_64bit = true;  // nvlink takes no other
  // Of a cubin for sm_100 or later in a fat binary: whether the member carries the compatibility
  // record that fatbinary 13.0 writes. Without it nvlink goes by the member's header alone, which
  // is more narrow.
  bool has_compat_record = true;
  // The compatibility record says that the cubin runs on its own number only, as it does for
  // variant `a`; then that holds even if `arch` says otherwise.
  bool own_number_only = false;
};

// What a code is taken for. A plain value.
struct CodeChoiceOptions {
  bool lto = false;             // -lto: LTO IR goes before everything else
  bool virtual_target = false;  // -arch=compute_NN: without `lto` a cubin is of no use
};

// What became of one candidate.
enum class CodeVerdict : std::uint8_t {
  kChosen,         // this is what is linked
  kNotPreferred,   // it would do, but another one goes before it
  kNeedsLto,       // LTO IR that would do, were it a link with LTO
  kWrongArch,      // it does not run on, or compile for, the target
  kVirtualTarget,  // a cubin, and the target is virtual
  kNot64Bit,       // CodeCandidate::is_64bit is false
  kUnknownKind,    // CodeKind::kOther
};

// What ChooseCode says of all candidates. A plain value.
struct CodeChoice {
  std::optional<std::size_t> index;  // of the candidate that is taken
  // Nothing can be taken, but LTO IR could be with CodeChoiceOptions::lto. nvlink makes that an
  // error of its own, where otherwise it warns of the missing architecture.
  bool needs_lto = false;
  std::vector<CodeVerdict> verdicts;  // one for each candidate
};

// Chooses as nvlink 13.0 does for every pair of the architectures it knows; the rules, and how they
// were measured, stand in docs/fatbin.md. `candidates` are in file order, which decides between
// equals: for the first, but of plain PTX and LTO IR for the target's own number for the last.
// Knows no state: any number of threads may call it.
CodeChoice ChooseCode(std::span<const CodeCandidate> candidates, Arch target,
                      CodeChoiceOptions options = {});

// Says in English what became of `candidates[index]` and why, for instance "the cubin for sm_80
// would do for sm_86, but the PTX for compute_86 (member 1) has the higher architecture". `choice`
// is what ChooseCode returned for the same candidates and target; `index` is below their number.
std::string ExplainVerdict(std::span<const CodeCandidate> candidates, const CodeChoice& choice,
                           std::size_t index, Arch target);

}  // namespace devlink
