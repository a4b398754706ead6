// SPDX-License-Identifier: Apache-2.0
//
// A finalizer that does not do its work: what becomes of the link. Processes stand in its place.
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "devlink/link_session.h"
#include "devlink/toolchain.h"
#include "support/catch.h"
#include "support/mercury_golden.h"
#include "support/process.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

// A link of two cubins for sm_100 whose finalizer is a script.
LinkOutcome LinkBeside(const std::string& script, std::chrono::milliseconds timeout, int parts) {
  const TemporaryDirectory directory("devlink-finalize-step");
  const std::string worker = directory.File("worker");
  REQUIRE(WriteText(worker, "#!/bin/sh\n" + script));
  REQUIRE(WriteText(directory.File("lib.so"), "any library"));
  std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  ToolchainOptions tools;
  tools.finalizer = {.nvjitlink_path = directory.File("lib.so"),
                     .worker_path = worker,
                     .temporary_directory = directory.path().string(),
                     .timeout = timeout};
  LinkOptions options;
  options.target = *Arch::Parse("sm_100");
  options.finalizer_parts = parts;
  auto session = LinkSession::Create(options, {.toolchain = std::make_shared<Toolchain>(tools)});
  REQUIRE(session.ok());
  for (const char* const name : {"first.cubin", "second.cubin"}) {
    REQUIRE(session->AddCubin(name, MercuryGolden(name)).ok());
  }
  return session->Link();
}

bool OutcomeSays(const LinkOutcome& outcome, std::string_view what) {
  for (const Diagnostic& diagnostic : outcome.diagnostics) {
    if (diagnostic.text.find(what) != std::string::npos) return true;
    for (const std::string& note : diagnostic.notes) {
      if (note.find(what) != std::string::npos) return true;
    }
  }
  return false;
}

TEST_CASE("A finalizer that does not end ends the link, which time must not decide", "[finalize]") {
  const int parts = GENERATE(1, 2);
  const LinkOutcome outcome = LinkBeside("sleep 60\n", std::chrono::milliseconds(50), parts);
  CHECK(outcome.status.code() == absl::StatusCode::kDeadlineExceeded);
  CHECK(outcome.cubin.empty());
  CHECK(OutcomeSays(outcome, "the finalizer takes too long"));
  CHECK(OutcomeSays(outcome, "within 50 ms"));
}

TEST_CASE("A finalizer that was named and is not there is told of, others are not", "[finalize]") {
  const auto link = [](const FinalizerOptions& finalizer) {
    auto session = LinkSession::Create(
        {.target = *Arch::Parse("sm_100")},
        {.toolchain = std::make_shared<Toolchain>(ToolchainOptions{.finalizer = finalizer})});
    REQUIRE(session.ok());
    REQUIRE(session->AddCubin("first.cubin", MercuryGolden("first.cubin")).ok());
    REQUIRE(session->AddCubin("second.cubin", MercuryGolden("second.cubin")).ok());
    LinkOutcome outcome = session->Link();
    CHECK(outcome.ok());
    return outcome;
  };
  CHECK(link({}).diagnostics.empty());
  CHECK(OutcomeSays(link({.backend = FinalizerBackend::kNvlink}), "no nvlink was named"));
  CHECK(OutcomeSays(link({.nvjitlink_path = "/no/such.so"}), "/no/such.so"));
  CHECK(OutcomeSays(link({.nvlink_path = "/no/such"}), "no program '/no/such'"));
}

TEST_CASE("A link does without a finalizer that fails, and says so", "[finalize]") {
  const int parts = GENERATE(1, 2);
  const LinkOutcome outcome = LinkBeside("exit 3\n", std::chrono::milliseconds(0), parts);
  CHECK(outcome.status.ok());
  CHECK_FALSE(outcome.cubin.empty());
  CHECK(OutcomeSays(outcome, "so the code is as the assembler made it"));
}

}  // namespace
}  // namespace devlink::testing
