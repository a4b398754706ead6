// SPDX-License-Identifier: Apache-2.0
//
// What a session tells of its inputs: those without device code, what one call had to say, lists of
// host code; and inputs that are copied within bounds alone.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "devlink/link_session.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/fatbin_builder.h"
#include "support/host_object.h"
#include "support/process.h"
#include "support/text.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

LinkSession SessionWith(LinkOptions options = {}) {
  options.target = *Arch::Parse("sm_80");
  return *LinkSession::Create(std::move(options));
}

Cubin ToldKernel(const std::string& name = "k") {
  return BuildCubin({.functions = {{.name = name, .kernel = true}}});
}

std::vector<std::string> NotesIn(const std::vector<Diagnostic>& said) {
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
    REQUIRE(session.AddInput("k.cubin", ToldKernel()).ok());
    REQUIRE(session.AddInput("plain.o", BuildElf({{".text", "x"}})).ok());
    REQUIRE(session.AddInput("empty", {}).ok());
    REQUIRE(session.AddInput("lib.a", BuildArchive({{"p.o", BuildElf({{".text", "x"}})}})).ok());
  };
  const std::vector<std::string> expected = {
      "'k.cu' brings no device code: it is not an ELF, PTX or archive file",
      "'plain.o' brings no device code: it is an ELF object for the host",
      "'empty' brings no device code: it is empty",
      "'lib.a' brings no device code: it is an archive without any"};
  LinkSession session = SessionWith();
  add(session);
  CHECK(NotesIn(session.diagnostics()) == expected);
  CHECK(session.diagnostics().front().input == "k.cu");
  const LinkOutcome outcome = session.Link();
  REQUIRE(outcome.ok());
  CHECK(NotesIn(outcome.diagnostics) == expected);

  // As the command, and as nvlink.
  LinkOptions silent;
  silent.pass_over_silently = true;
  LinkOptions as_nvlink;
  as_nvlink.compatibility = Compatibility::kNvlink;
  for (const LinkOptions& options : {silent, as_nvlink}) {
    LinkSession other = SessionWith(options);
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
  LinkSession session = SessionWith(options);
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
  LinkSession session = SessionWith();
  REQUIRE(session.AddFiles(std::array{text, library}).ok());
  const std::vector<Diagnostic> said = session.diagnostics();
  REQUIRE(said.size() == 1);
  CHECK(said[0].input == text);
}

TEST_CASE("Entries tell what one call had to say", "[session]") {
  LinkSession session = SessionWith();
  CHECK(session.entries() == 0);
  REQUIRE_FALSE(session.AddInput("bad", ToBytes("garbage")).ok());
  CHECK(session.entries() == 1);
  REQUIRE(session.AddInput("k", ToldKernel()).ok());
  const std::size_t before = session.entries();
  CHECK(before == 2);
  REQUIRE_FALSE(session.AddFile("/nowhere/a").ok());
  const std::vector<Diagnostic> news = session.diagnostics(before);
  REQUIRE(news.size() == 1);
  CHECK(news[0].input == "/nowhere/a");
  CHECK(session.diagnostics().size() == 2);
  CHECK(session.diagnostics(session.entries()).empty());
  CHECK(session.diagnostics(1000).empty());
}

TEST_CASE("The bound on one input holds from memory, too", "[session]") {
  const Cubin kernel = ToldKernel();
  LinkOptions options;
  options.max_input_bytes = kernel.size() - 1;
  LinkSession small = SessionWith(options);
  const auto refused = [](const absl::Status& status) {
    CHECK(status.code() == absl::StatusCode::kResourceExhausted);
    return std::string(status.message());
  };
  const std::string said = refused(small.AddInput("a", Cubin(kernel)));
  CHECK(said.find("more than the limit of " + std::to_string(kernel.size() - 1)) != said.npos);
  refused(small.AddView("b", kernel));
  refused(small.AddCubin("c", kernel));
  refused(small.AddCubin("d", Cubin(kernel)));
  refused(small.AddViews(std::array{InputView{"e", kernel}}));
  refused(small.AddInputs({{.name = "f", .bytes = kernel}}));
  CHECK(small.diagnostics().size() == 6);
  CHECK(small.Link().report.inputs == 0);

  // Nothing of it is read: there is nothing there.
  const std::uint8_t byte = 0;
  LinkSession session = SessionWith();
  refused(session.AddView("huge", std::span(&byte, std::size_t{1} << 40)));
  refused(session.AddViews(std::array{InputView{"huge", {&byte, std::size_t{1} << 40}}}));

  options.max_input_bytes = kernel.size();
  LinkSession fits = SessionWith(options);
  CHECK(fits.AddView("a", kernel).ok());
}

TEST_CASE("Views of many inputs make the program of their copies", "[session]") {
  std::vector<Cubin> cubins;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back("k" + std::to_string(i));
    cubins.push_back(ToldKernel(names.back()));
  }
  std::vector<InputView> views;
  LinkSession one_by_one = SessionWith();
  for (std::size_t i = 0; i < cubins.size(); ++i) {
    views.push_back({names[i], cubins[i]});
    REQUIRE(one_by_one.AddView(names[i], cubins[i]).ok());
  }
  LinkSession session = SessionWith();
  REQUIRE(session.AddViews(views).ok());
  for (Cubin& cubin : cubins) std::fill(cubin.begin(), cubin.end(), std::uint8_t{0});
  const LinkOutcome outcome = session.Link();
  REQUIRE(outcome.ok());
  CHECK(outcome.cubin == one_by_one.Link().cubin);
}

TEST_CASE("What inputs say of their host code is told, whoever gave it", "[session]") {
  LinkSession session = SessionWith();
  REQUIRE(session.AddCubin("a", ToldKernel("a")).ok());
  HostReferences given;
  given.kernels_external = {.present = true, .names = {"b*"}};
  REQUIRE(session.AddCubin("b", ToldKernel("b"), given).ok());
  REQUIRE(session
              .AddInput("c.o", MakeHostObject(ToldKernel("c"), 80,
                                              {{".nvHRKE", ListBytes({"c*", "d*"})},
                                               {".nvHRDI", ListBytes({"v"})}}))
              .ok());
  REQUIRE(session.AddInput("plain.o", BuildElf({{".text", "x"}})).ok());
  session.AddHostReferences(given);
  const std::vector<InputReferences> found = session.host_references();
  REQUIRE(found.size() == 5);
  CHECK(found[0].input == "a");
  CHECK_FALSE(found[0].references.kernels_external.present);
  CHECK(found[1].references.kernels_external.names == std::vector<std::string>{"b*"});
  CHECK(found[2].input == "c.o");
  CHECK(found[2].references.kernels_external.names == std::vector<std::string>{"c*", "d*"});
  CHECK(found[2].references.variables_internal.names == std::vector<std::string>{"v"});
  CHECK_FALSE(found[2].references.kernels_internal.present);
  CHECK(found[3].input == "plain.o");
  CHECK_FALSE(found[3].references.kernels_external.present);
  CHECK(found[4].input.empty());
  CHECK(found[4].references.kernels_external.present);
}

TEST_CASE("An input that is refused is left out, whatever stands before its fault", "[session]") {
  Cubin damaged = ToldKernel("damaged");
  damaged.resize(damaged.size() / 2);
  HostReferences given;
  given.kernels_external = {.present = true, .names = {"*"}};
  LinkSession session = SessionWith();
  REQUIRE(session.AddCubin("a", ToldKernel("a")).ok());
  const ByteVector archive = BuildArchive({{"m.cubin", ToldKernel("m")}, {"d.cubin", damaged}});
  CHECK(absl::IsInvalidArgument(session.AddInput("lib.a", ByteVector(archive))));
  CHECK_FALSE(session.AddCubin("d", damaged, given).ok());
  CHECK(session.host_references().size() == 1);
  const LinkOutcome outcome = session.Link();
  REQUIRE(outcome.ok());
  REQUIRE(outcome.report.kernels.size() == 1);
  CHECK(outcome.report.kernels[0].name == "a");
  CHECK_FALSE(outcome.diagnostics.empty());
}

}  // namespace
}  // namespace devlink::testing
