// SPDX-License-Identifier: Apache-2.0
//
// Compiles a program, links it twice, with nvlink and with devlink, and compares what comes out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "devlink/toolchain.h"
#include "random/random_program.h"
#include "support/toolkit.h"

namespace devlink::testing {

// `sm_90a` and the like.
std::string TargetName(ProgramTarget target);

enum class Verdict { kIdentical, kDifferent, kSkipped };

struct PairResult {
  Verdict verdict = Verdict::kSkipped;
  std::string kind;         // in a word: "cubin, .nv.info", "messages", "status", "compile"
  std::string explanation;  // what differs, or why it was skipped
};

// One of the two links.
struct LinkOutcome {
  bool ok = false;
  std::vector<std::uint8_t> cubin;
  std::string messages;  // as the command line prints them, under the name devlink, without notes
  bool keeps_lost = false;  // devlink says that it kept what nvlink loses
  bool repeats = false;     // devlink repeats itself as nvlink does (Compatibility::kNvlink)
};

// nvlink's messages under devlink's name.
std::string UnderDevlinksName(const std::string& messages);

// Of warnings about one entry's stack, which nvlink repeats for every call
// (docs/compatibility.md), the first; all else as often as it is said.
std::string SaidOnce(const std::string& messages);

// What devlink should say in `actual`, where nvlink says what is in `expected`.
std::string ExpectedMessages(const LinkOutcome& expected, const LinkOutcome& actual);

// Whether a link kept what nvlink loses, as a note says then (docs/compatibility.md).
bool KeepsLost(std::span<const Diagnostic> diagnostics);

// Tools for links of cubins, which need none but the finalizer: the library where `number` is even,
// else nvlink, for they have to come to the same.
std::shared_ptr<Toolchain> FinalizerTools(std::uint64_t number);

// Links files with the library in this process, up to the first that it cannot take, as nvlink
// does.
LinkOutcome LinkWithLibrary(const LinkOptions& given, const std::vector<std::string>& inputs);

// Works in one directory, for one target. Used by one thread at a time.
class LinkPair {
 public:
  // `program` is a devlink command line to run; empty links in this process.
  LinkPair(Toolkit toolkit, ProgramTarget target, std::filesystem::path directory,
           std::string program);

  // Writes the sources, compiles those that changed since the last call, and packs them.
  bool Compile(const RandomProgram& program, std::string& error);

  // Compile, link twice, compare.
  PairResult Check(const RandomProgram& program);

  // Names of the inputs in link order, after Compile.
  [[nodiscard]] const std::vector<std::string>& inputs() const { return inputs_; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

 private:
  bool CompileFile(const SourceFile& source, const std::string& output, std::string& error);
  // Both outputs bear the same name, because with -g the name stands in the output.
  [[nodiscard]] std::string OutputPath(std::string_view tool) const;
  [[nodiscard]] std::string RecordedOptions(bool relocatable) const;
  // nvlink's release.
  [[nodiscard]] absl::StatusOr<ToolkitProfile> Profile() const {
    return ToolkitProfile::ForRelease(toolkit_.release);
  }
  PairResult Compare(const RandomProgram& program);
  PairResult CheckAgain(const RandomProgram& program, const std::vector<std::uint8_t>& relocatable);
  // `name` is what messages and folders call the linker.
  [[nodiscard]] LinkOutcome RunLinker(const std::string& linker, std::string_view name,
                                      const RandomProgram& program) const;
  LinkOutcome LinkWithNvlink(const RandomProgram& program);
  LinkOutcome LinkWithProgram(const RandomProgram& program, bool as_nvlink);
  LinkOutcome LinkWithDevlink(const RandomProgram& program);
  LinkOutcome LinkInProcess(const RandomProgram& program, bool as_nvlink);

  Toolkit toolkit_;
  ProgramTarget target_;
  std::filesystem::path directory_;
  std::string program_;
  std::vector<std::string> inputs_;
  std::map<std::string, std::string> compiled_;  // source name -> text and flags
};

}  // namespace devlink::testing
