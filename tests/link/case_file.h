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
//   // link-flags: -g         for the linker; see kLinkFlags
//   // expect: error          default: ok; see Expectation
//   // exempt: again           comparisons that cannot hold, for the reason that the comment gives;
//                              see Exemption. One that holds nevertheless fails the test.
//                              again@75: for that target only
// A `flags` line in a later file holds for that file and replaces those of the first.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "support/process.h"
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

// What "link-flags" may say: the options that the test gives both linkers. A case with another one
// fails, since devlink would be asked for something else than nvlink.
inline constexpr std::string_view kLinkFlags[] = {
    "-Werror", "-disable-infos", "-g", "-report-arch", "-suppress-stack-size-warning", "-v"};

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
  std::string unknown_word;  // of "exempt" or "link-flags"; the case is wrong
};

// All cases of a directory, by name. Files that belong to no case (headers) are passed over.
std::vector<LinkCase> FindCases(const std::filesystem::path& directory);

// How a file of a case becomes a cubin.
enum class FrontEnd {
  kOnce,  // for the case's first target; other targets get its PTX, as programs carry it
  kEach,  // for every target, as headers need whose code is not the same for all
};

// Compiles files of cases. nvcc takes half a second for the least of them before PTX is there, and
// ptxas some hundredths: with FrontEnd::kOnce the first half is done once for each file and its
// flags. May be used by several threads.
class CaseCompiler {
 public:
  explicit CaseCompiler(const Toolkit& toolkit) : toolkit_(toolkit) {}

  // Compiles a file of `program` for "80" or "90a". `more_flags` come last: how a test builds the
  // same case once more with -lineinfo.
  ProcessResult Compile(const LinkCase& program, const CaseFile& file, std::string_view arch,
                        const std::string& output, FrontEnd front_end = FrontEnd::kOnce,
                        const std::vector<std::string>& more_flags = {});

 private:
  struct Ptx {
    std::once_flag made;
    ProcessResult result;
    std::string path;
  };

  // The PTX of nvcc's `command`, whose input, output and target are not in it.
  const Ptx& PtxOf(const CaseFile& file, std::vector<std::string> command, std::string_view arch);

  const Toolkit toolkit_;
  const TemporaryDirectory directory_{"devlink-ptx"};
  std::mutex mutex_;
  std::map<std::vector<std::string>, Ptx> ptx_;  // by command; guarded by mutex_, not its values
};

}  // namespace devlink::testing
