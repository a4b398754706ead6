// SPDX-License-Identifier: Apache-2.0
//
// What a session tells of its inputs: those without device code.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink/link_session.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/process.h"
#include "support/text.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

LinkSession MakeSession(LinkOptions options = {}) {
  options.target = *Arch::Parse("sm_80");
  return *LinkSession::Create(std::move(options));
}

Cubin Kernel(const std::string& name = "k") {
  return BuildCubin({.functions = {{.name = name, .kernel = true}}});
}

std::vector<std::string> NotesOf(const std::vector<Diagnostic>& said) {
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : said) {
    CHECK(diagnostic.code == DiagnosticCode::kNoDeviceCode);
    CHECK(diagnostic.severity == Severity::kInfo);
    CHECK(diagnostic.text.empty());
    CHECK(diagnostic.notes.size() == 1);
    out.insert(out.end(), diagnostic.notes.begin(), diagnostic.notes.end());
  }
  return out;
}

TEST_CASE("What is no device code is told of, and linked without", "[session]") {
  const std::string source(100, '/');
  const auto add = [&](LinkSession& session) {
    REQUIRE(session.AddInput("k.cu", ToBytes(source)).ok());
    REQUIRE(session.AddInput("k.cubin", Kernel()).ok());
    REQUIRE(session.AddInput("plain.o", BuildElf({{".text", "x"}})).ok());
    REQUIRE(session.AddInput("empty", {}).ok());
    REQUIRE(session.AddInput("lib.a", BuildArchive({{"p.o", BuildElf({{".text", "x"}})}})).ok());
  };
  const std::vector<std::string> expected = {
      "'k.cu' brings no device code: it is not an ELF, PTX or archive file",
      "'plain.o' brings no device code: it is an ELF object for the host",
      "'empty' brings no device code: it is empty",
      "'lib.a' brings no device code: it is an archive without any"};
  LinkSession session = MakeSession();
  add(session);
  CHECK(NotesOf(session.diagnostics()) == expected);
  CHECK(session.diagnostics().front().input == "k.cu");
  const LinkOutcome outcome = session.Link();
  REQUIRE(outcome.ok());
  CHECK(NotesOf(outcome.diagnostics) == expected);

  // As the command, and as nvlink.
  LinkOptions silent;
  silent.pass_over_silently = true;
  LinkOptions as_nvlink;
  as_nvlink.compatibility = Compatibility::kNvlink;
  for (const LinkOptions& options : {silent, as_nvlink}) {
    LinkSession other = MakeSession(options);
    add(other);
    CHECK(other.diagnostics().empty());
    const LinkOutcome same = other.Link();
    CHECK(same.diagnostics.empty());
    CHECK(same.cubin == outcome.cubin);
  }
}

TEST_CASE("An input that was told of is not counted once more", "[session]") {
  LinkOptions options;
  options.verbose = true;
  LinkSession session = MakeSession(options);
  REQUIRE(session.FindLibraries({.names = {"nowhere"}}).ok());
  REQUIRE(session.AddInput("t", ToBytes(std::string(100, 'x'))).ok());
  const LinkOutcome outcome = session.Link();
  REQUIRE(outcome.ok());
  const auto notes = outcome.diagnostics.back().notes;
  CHECK(notes == std::vector<std::string>{"1 input brought nothing: -lnowhere (no such library)"});
}

TEST_CASE("Files are told of but for libraries of the host", "[session]") {
  const TemporaryDirectory folder;
  const std::string text = folder.File("k.cu");
  const std::string library = folder.File("libm.a");
  REQUIRE(WriteText(text, std::string(100, '/')));
  REQUIRE(WriteBytes(library, BuildArchive({{"m.o", BuildElf({{".text", "x"}})}})));
  LinkSession session = MakeSession();
  REQUIRE(session.AddFiles(std::array{text, library}).ok());
  const std::vector<Diagnostic> said = session.diagnostics();
  REQUIRE(said.size() == 1);
  CHECK(said[0].input == text);
}

}  // namespace
}  // namespace devlink::testing
