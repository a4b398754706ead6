// SPDX-License-Identifier: Apache-2.0
//
// Which of two files is the output: the finalizer's, or the one that was linked without it.
#include "session/judged_file.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "devlink/toolchain.h"
#include "support/catch.h"
#include "support/linked_file.h"

namespace devlink::testing {
namespace {

using internal::JudgedFile;
using Bytes = std::vector<std::uint8_t>;

struct Judging {
  LinkOptions options = {.target = {.number = 100}};
  bool is_fit = true;
  std::vector<Diagnostic> diagnostics;

  absl::StatusOr<JudgedFile> Judge(Bytes finalized, const absl::StatusOr<Bytes>& own,
                                   bool told_others = false) {
    Toolchain toolchain;
    const internal::LinkContext context{
        .environment = Environment::Default(), .pool = nullptr, .toolchain = toolchain};
    return internal::JudgeFinalized({std::move(finalized), own, is_fit, told_others}, options,
                                    context, diagnostics);
  }
};

LinkedShape Finalized() {
  LinkedShape out{.tool = "theirs"};
  out.code[0] = 1;
  return out;
}

TEST_CASE("The finalizer's file is taken where it is the same program", "[session]") {
  Judging judging;
  const Bytes theirs = WriteLinkedFile(Finalized());
  const auto judged = judging.Judge(theirs, WriteLinkedFile({}));
  REQUIRE(judged.ok());
  CHECK(judged->cubin == theirs);
  CHECK_FALSE(judged->is_own);
  CHECK(judged->finalized == std::vector<std::string>{"k"});
  CHECK(judging.diagnostics.empty());
}

TEST_CASE("A finalizer that was told of other kernels gets our names", "[session]") {
  Judging judging;
  const auto judged =
      judging.Judge(WriteLinkedFile(Finalized()), WriteLinkedFile({.with_names = true}), true);
  REQUIRE(judged.ok());
  LinkedShape expected = Finalized();
  expected.with_names = true;
  CHECK(judged->cubin == WriteLinkedFile(expected));
}

TEST_CASE("Code for another architecture is not compared, but names are taken", "[session]") {
  Judging judging;
  judging.is_fit = false;
  LinkedShape expected = Finalized();
  expected.variables[0] = 9;
  const Bytes theirs = WriteLinkedFile(expected);
  expected.with_names = true;
  const auto judged = judging.Judge(theirs, WriteLinkedFile({.with_names = true}), true);
  REQUIRE(judged.ok());
  CHECK(judged->cubin == WriteLinkedFile(expected));
  CHECK_FALSE(judged->finalized.has_value());
  CHECK(judging.diagnostics.empty());
}

TEST_CASE("Another program is not taken, and a note says what differs", "[session]") {
  Judging judging;
  LinkedShape other = Finalized();
  other.variables[0] = 9;
  const Bytes theirs = WriteLinkedFile(other);
  const Bytes own = WriteLinkedFile({});
  SECTION("ours is written") {
    const auto judged = judging.Judge(theirs, own);
    REQUIRE(judged.ok());
    CHECK(judged->cubin == own);
    CHECK(judged->is_own);
    CHECK_FALSE(judged->finalized.has_value());
    REQUIRE(judging.diagnostics.size() == 1);
    CHECK(judging.diagnostics[0].severity == Severity::kInfo);
    REQUIRE(judging.diagnostics[0].notes.size() == 1);
    CHECK(
        judging.diagnostics[0].notes[0] ==
        "the finalizer made another program, so the code is as the assembler made it: the section "
        "'.nv.global.init' is not as this link has it");
  }
  SECTION("nothing is, where the finalizer is asked for") {
    judging.options.finalize = FinalizeMode::kAlways;
    CHECK_FALSE(judging.Judge(theirs, own).ok());
    REQUIRE(judging.diagnostics.size() == 1);
    CHECK(judging.diagnostics[0].severity == Severity::kFatal);
  }
  SECTION("theirs is, as by nvlink") {
    judging.options.compatibility = Compatibility::kNvlink;
    const auto judged = judging.Judge(theirs, own);
    REQUIRE(judged.ok());
    CHECK(judged->cubin == theirs);
    CHECK(judging.diagnostics.empty());
  }
}

TEST_CASE("What cannot be composed is not compared, but want of memory ends the link",
          "[session]") {
  Judging judging;
  const Bytes theirs = WriteLinkedFile(Finalized());
  const auto judged = judging.Judge(theirs, absl::UnimplementedError("textures"));
  REQUIRE(judged.ok());
  CHECK(judged->cubin == theirs);
  CHECK_FALSE(judged->finalized.has_value());
  CHECK(judging.diagnostics.empty());
  CHECK(absl::IsResourceExhausted(
      judging.Judge(theirs, absl::ResourceExhaustedError("no memory")).status()));
  CHECK(absl::IsCancelled(judging.Judge(theirs, absl::CancelledError("")).status()));
}

}  // namespace
}  // namespace devlink::testing
