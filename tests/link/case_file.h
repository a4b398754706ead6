// SPDX-License-Identifier: Apache-2.0
//
// The link cases: small sources that are compiled, linked with nvlink and with devlink, and
// compared.
//
// A case is one file (`globals.cu`) or several with a number before the extension (`globals.1.cu`,
// `globals.2.ptx`); the number is the link order. Headers lie beside them. The comment at the head
// of the first file, behind the licence line, says in one line what the case is about, then how to
// build it:
//   // flags: -G -O0          for nvcc or ptxas, of this case's files of the first file's kind
//   // archs: 90 90a          default: 75 80 90
//   // link-flags: -g         for the linker
//   // expect: error          default: ok; see Expectation
//   // exempt: again           comparisons that cannot hold, for the reason that the comment gives;
//                              see Exemption. One that holds nevertheless fails the test.
//                              again@75: for that target only
// A `flags` line in a later file holds for that file and replaces those of the first.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/toolkit.h"

namespace devlink::testing {

enum class Expectation {
  kOk,       // links without a message
  kWarning,  // links with a warning
  kError,    // does not link
  kAny,      // whatever nvlink does, devlink does
};

// What is compared of every case but those that say it cannot be.
enum class Comparison {
  kTwoSteps,           // "two-steps": -r and a second link give the program of one link
  kTwoStepsConstants,  // "two-steps-constants": they give its constants of the compiler
  kNvlinkRelocatable,  // "nvlink-r": nvlink -r, which ends with an internal error of its own
  kAgain,              // "again": the result of nvlink -r, linked by both
};

struct Exemption {
  Comparison comparison = Comparison::kTwoSteps;
  std::string arch;  // empty: all
};

struct CaseFile {
  std::filesystem::path path;
  std::vector<std::string> flags;
};

struct LinkCase {
  std::string name;     // "globals"
  std::string purpose;  // the one line
  std::vector<CaseFile> files;
  std::vector<std::string> archs;  // "80", "90a"
  std::vector<std::string> link_flags;
  Expectation expectation = Expectation::kOk;
  std::vector<Exemption> exemptions;
  std::string unknown_exemption;  // a word that is none; the case is wrong
};

// All cases of a directory, by name. Files that belong to no case (headers) are passed over.
std::vector<LinkCase> FindCases(const std::filesystem::path& directory);

// The command that compiles one file of a case. `more_flags` come last: how a test builds the same
// case once more with -lineinfo.
std::vector<std::string> CompileCommand(const Toolkit& toolkit, const CaseFile& file,
                                        std::string_view arch, const std::string& output,
                                        const std::vector<std::string>& more_flags = {});

}  // namespace devlink::testing
