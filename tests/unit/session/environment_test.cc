// SPDX-License-Identifier: Apache-2.0
//
// What a session asks of its environment, and what not.
#include <string>
#include <vector>

#include "devlink/link_session.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/test_environment.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

Cubin OneKernel() { return BuildCubin({.functions = {{.name = "kernel", .kernel = true}}}); }

LinkSession SessionOf(const Environment& environment, bool read_thin_members = false) {
  return *LinkSession::Create({.target = {.number = 80}, .read_thin_members = read_thin_members},
                              {.environment = &environment});
}

TEST_CASE("A link of cubins from memory opens no file and starts no thread", "[session]") {
  const TestEnvironment environment;
  LinkSession session = SessionOf(environment);
  REQUIRE(session.AddCubin("a", OneKernel()).ok());
  REQUIRE(session.AddInput("b.cubin", BuildCubin({.functions = {{.name = "f"}}})).ok());
  CHECK(session.Link().ok());
  CHECK(environment.paths_read().empty());
  CHECK(environment.parallel_runs == 0);
}

TEST_CASE("Files are those of the environment", "[session]") {
  TestEnvironment environment;
  environment.files["nowhere/a.cubin"] = OneKernel();
  LinkSession session = SessionOf(environment);
  CHECK(session.AddFile("nowhere/a.cubin").ok());
  CHECK(absl::IsNotFound(session.AddFile("/etc/passwd")));
  CHECK(environment.paths_read() == std::vector<std::string>{"nowhere/a.cubin", "/etc/passwd"});
}

TEST_CASE("A thin archive from memory opens files only where that was allowed", "[session]") {
  const Cubin member = OneKernel();
  TestEnvironment environment;
  environment.files["d/a.cubin"] = member;
  const ByteVector thin = BuildThinArchive({{"a.cubin", member.size()}});
  environment.files["d/libx.a"] = thin;

  LinkSession closed = SessionOf(environment);
  CHECK_FALSE(closed.AddInput("d/libx.a", ByteVector(thin)).ok());
  CHECK(environment.paths_read().empty());
  std::string notes;
  for (const Diagnostic& diagnostic : closed.diagnostics()) {
    for (const std::string& note : diagnostic.notes) notes += note;
  }
  CHECK(notes.find("read_thin_members") != std::string::npos);

  LinkSession open = SessionOf(environment, /*read_thin_members=*/true);
  CHECK(open.AddInput("d/libx.a", ByteVector(thin)).ok());
  CHECK(open.Link().ok());
  CHECK(SessionOf(environment).AddFile("d/libx.a").ok());
  CHECK(environment.paths_read() == std::vector<std::string>{"d/a.cubin", "d/libx.a", "d/a.cubin"});
}

TEST_CASE("A link ends when the environment says stop, and the next one need not", "[session]") {
  TestEnvironment environment;
  LinkSession session = SessionOf(environment);
  REQUIRE(session.AddCubin("a", OneKernel()).ok());
  environment.stop.request_stop();
  const LinkOutcome outcome = session.Link();
  CHECK(absl::IsCancelled(outcome.status));
  CHECK(outcome.cubin.empty());
  environment.stop = std::stop_source();
  CHECK(session.Link().ok());
}

}  // namespace
}  // namespace devlink::testing
