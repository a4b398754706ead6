// SPDX-License-Identifier: Apache-2.0
#include "devlink/link_session.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/fatbin_builder.h"
#include "support/process.h"
#include "support/recording_sink.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

LinkSession MakeSession(std::string_view arch = "sm_80",
                        std::shared_ptr<ModulePool> pool = nullptr) {
  LinkOptions options;
  options.target = *Arch::Parse(arch);
  return *LinkSession::Create(options, std::move(pool));
}

Cubin Caller() {
  return BuildCubin({.functions = {{.name = "kernel", .calls = {"helper"}, .entry = true}}});
}
Cubin Helper() {
  return BuildCubin({.functions = {{.name = "helper", .registers = 30, .frame = 16}}});
}

Cubin LinkPairNamed(const std::string& first, const std::string& second,
                    std::shared_ptr<ModulePool> pool = nullptr) {
  LinkSession session = MakeSession("sm_80", std::move(pool));
  if (!session.AddCubin(first, Caller()).ok() || !session.AddCubin(second, Helper()).ok())
    return {};
  auto result = session.Link();
  return result.ok() ? std::move(result->cubin) : Cubin();
}

bool HasCode(const LinkSession& session, DiagnosticCode code) {
  return std::any_of(session.diagnostics().begin(), session.diagnostics().end(),
                     [code](const Diagnostic& d) { return d.code == code; });
}

TEST_CASE("Two cubins become one", "[session]") {
  LinkSession session = MakeSession();
  REQUIRE(session.AddCubin("a", Caller()).ok());
  REQUIRE(session.AddCubin("b", Helper()).ok());
  const auto result = session.Link();
  REQUIRE(result.ok());
  CHECK(session.diagnostics().empty());
  CHECK(result->cubin.size() == result->report.output_bytes);
  CHECK(result->report.inputs == 2);
  REQUIRE(result->report.entries.size() == 1);
  CHECK(result->report.entries[0].name == "kernel");
  CHECK(result->report.entries[0].registers == 30);
  CHECK(result->report.entries[0].stack_bytes == std::optional<std::uint64_t>(16));
  CHECK(ToJson(result->report).find("\"kernel\"") != std::string::npos);
}

TEST_CASE("Targets that are not linked are refused", "[session]") {
  CHECK(LinkSession::Create({}).status().code() == absl::StatusCode::kUnimplemented);
  LinkOptions options;
  options.target = *Arch::Parse("sm_100");
  CHECK(LinkSession::Create(options).status().code() == absl::StatusCode::kUnimplemented);
}

TEST_CASE("An input for another architecture is refused, and the session goes on", "[session]") {
  LinkSession session = MakeSession("sm_90");
  const absl::Status status = session.AddCubin("old.cubin", Caller());
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  REQUIRE(session.diagnostics().size() == 1);
  const Diagnostic& d = session.diagnostics().front();
  CHECK(d.code == DiagnosticCode::kArchMismatch);
  CHECK(d.severity == Severity::kFatal);
  CHECK(d.input == "old.cubin");
  CHECK(d.text == "Input file 'old.cubin' arch does not match target 'sm_90'");
  const Cubin right = BuildCubin({.sm = 90, .functions = {{.name = "k", .entry = true}}});
  CHECK(session.AddCubin("right", right).ok());
  CHECK(session.Link().ok());
}

TEST_CASE("Inputs of newer toolkits are refused", "[session]") {
  LinkSession session = MakeSession();
  const Cubin newer = BuildCubin({.toolkit = 131, .functions = {{.name = "k", .entry = true}}});
  CHECK(session.AddCubin("n", newer).code() == absl::StatusCode::kFailedPrecondition);
  CHECK(HasCode(session, DiagnosticCode::kInputNewerThanToolkit));
}

TEST_CASE("Inputs that cannot be read are refused", "[session]") {
  LinkSession session = MakeSession();
  CHECK(session.AddFile("/nonexistent/a.cubin").code() == absl::StatusCode::kNotFound);
  CHECK(HasCode(session, DiagnosticCode::kUnreadableInput));
  CHECK(session.AddCubin("text", Cubin(100, 'x')).code() == absl::StatusCode::kInvalidArgument);
  CHECK(HasCode(session, DiagnosticCode::kUnsupportedInput));
  Cubin damaged = Caller();
  damaged.resize(damaged.size() - 1);
  CHECK(session.AddCubin("cut", damaged).code() == absl::StatusCode::kInvalidArgument);
  CHECK(HasCode(session, DiagnosticCode::kMalformedInput));
  CHECK(session.AddModule("none", nullptr).code() == absl::StatusCode::kInvalidArgument);
  for (const Diagnostic& d : session.diagnostics()) {
    CHECK_FALSE(d.text.empty());
    CHECK_FALSE(d.input.empty());
  }
}

TEST_CASE("Files larger than the bound are refused", "[session]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("a.cubin");
  REQUIRE(WriteBytes(path, Caller()));
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  options.max_input_bytes = 100;
  auto session = LinkSession::Create(options);
  CHECK(session->AddFile(path).code() == absl::StatusCode::kResourceExhausted);
}

TEST_CASE("An archive is added once, whatever path leads to it; a file each time", "[session]") {
  const TemporaryDirectory directory;
  const std::string archive = directory.File("libq.a");
  REQUIRE(WriteBytes(archive, BuildArchive({{"a.cubin", Caller()}, {"b.cubin", Helper()}})));
  const std::string other = directory.File("other");
  std::filesystem::create_symlink(archive, other);
  const std::string hard = directory.File("hard");
  std::filesystem::create_hard_link(archive, hard);
  LinkSession session = MakeSession();
  for (const std::string& path : {archive, other, hard, archive}) CHECK(session.AddFile(path).ok());
  const auto result = session.Link();
  REQUIRE(result.ok());
  CHECK(result->report.inputs == 2);

  const std::string file = directory.File("b.cubin");
  REQUIRE(WriteBytes(file, Helper()));
  LinkSession twice = MakeSession();
  CHECK(twice.AddFile(file).ok());
  CHECK(twice.AddFile(file).ok());
  CHECK_FALSE(twice.Link().ok());
  CHECK(HasCode(twice, DiagnosticCode::kMultipleDefinition));
}

TEST_CASE("All sections of a device runtime's object share one fate", "[session]") {
  const auto section = [](const std::string& function) -> ElfSection {
    FatbinBuilder member;
    member.kind = CodeKind::kSass;
    member.arch.number = 80;
    const Cubin cubin = BuildCubin({.functions = {{.name = function}}});
    return {"__nv_relfatbin", ToText(FatbinBuilder::Container({member.Member(cubin)}))};
  };
  const ByteVector runtime =
      BuildArchive({{"r.o", BuildElf({section("helper"), section("another")})}});

  LinkSession alone = MakeSession();
  CHECK(alone.AddInput("libcudadevrt.a", ByteVector(runtime)).ok());
  CHECK(alone.RegisterFileText("/d") == "#define NUM_PRELINKED_OBJECTS 0\n");

  LinkSession needless = MakeSession();
  REQUIRE(needless.AddInput("h.cubin", Helper()).ok());
  const std::string before = needless.RegisterFileText("/d");
  CHECK(needless.AddInput("libcudadevrt.a", ByteVector(runtime)).ok());
  CHECK(needless.RegisterFileText("/d") == before);
  CHECK(needless.KeepsRegisterFile(""));

  // The first section has all that is undefined; the second belongs to it all the same.
  LinkSession needed = MakeSession();
  REQUIRE(needed.AddInput("k.cubin", Caller()).ok());
  CHECK(needed.AddInput("libcudadevrt.a", ByteVector(runtime)).ok());
  CHECK_FALSE(needed.KeepsRegisterFile(""));
  CHECK(needed.RegisterFileText("/d").starts_with("#define NUM_PRELINKED_OBJECTS 2\n"));
  const auto result = needed.Link();
  REQUIRE(result.ok());
  CHECK(result->report.inputs == 3);
}

TEST_CASE("What was refused is not registered", "[session]") {
  LinkSession session = MakeSession("sm_90");
  CHECK_FALSE(session.AddInput("k.cubin", Caller()).ok());
  CHECK(session.RegisterFileText("/d") == "#define NUM_PRELINKED_OBJECTS 0\n");
}

TEST_CASE("A session goes on without PTX that cannot be assembled", "[session]") {
  LinkSession session = MakeSession();
  REQUIRE(session.AddInput("k.cubin", Caller()).ok());
  REQUIRE(session.AddInput("p.ptx", ToBytes(".version 9.0\n.target sm_80\n")).ok());
  REQUIRE(session.AddInput("h.cubin", Helper()).ok());
  CHECK_FALSE(session.Link().ok());
  CHECK_FALSE(session.HasPtx());
  const auto result = session.Link();
  REQUIRE(result.ok());
  CHECK(result->report.inputs == 2);
  CHECK(session.RegisterFileText("/d") ==
        "#define NUM_PRELINKED_OBJECTS 2\nDEFINE_REGISTER_FUNC(_d_k_cubin)\n"
        "DEFINE_REGISTER_FUNC(_d_h_cubin)\n");
  // Nor does what comes behind it stumble over it.
  REQUIRE(session.AddInput("q.ptx", ToBytes(".version 9.0\n.target sm_80\n")).ok());
  CHECK_FALSE(session.AddInput("libcudadevrt.a", BuildArchive({{"r.cubin", Helper()}})).ok());
  CHECK(session.AddInput("libcudadevrt.a", BuildArchive({{"r.cubin", Helper()}})).ok());
  CHECK(session.Link().ok());
  CHECK(session.RegisterFileText("/d").starts_with("#define NUM_PRELINKED_OBJECTS 2\n"));
}

TEST_CASE("The search for libraries says what nvlink says", "[session]") {
  const TemporaryDirectory directory;
  REQUIRE(WriteText(directory.File("libtext.a"), "this is no archive"));
  REQUIRE(WriteBytes(directory.File("libempty.a"), BuildArchive({})));
  const auto search = [&](LinkSession& session, std::vector<std::string> names) {
    return session.FindLibraries(
        {.names = std::move(names), .directories = {directory.path().string()}});
  };
  LinkSession session = MakeSession();
  const auto none = search(session, {"nowhere", "empty"});
  REQUIRE(none.ok());
  CHECK(none->empty());
  REQUIRE(session.diagnostics().size() == 1);
  CHECK(session.diagnostics()[0].severity == Severity::kWarning);
  CHECK_FALSE(search(session, {"text"}).ok());
  REQUIRE(session.diagnostics().size() == 3);
  CHECK(session.diagnostics()[1].text == "unexpected archive format");
  CHECK(session.diagnostics()[2].text == "elfLink internal error");
  CHECK(session.diagnostics()[2].severity == Severity::kFatal);

  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  options.warnings_are_errors = true;
  LinkSession strict = *LinkSession::Create(options);
  CHECK_FALSE(search(strict, {"empty", "text"}).ok());
  REQUIRE(strict.diagnostics().size() == 2);
  CHECK(strict.diagnostics()[0].severity == Severity::kError);
  CHECK(strict.diagnostics()[1].text == "elfLink internal error");
}

TEST_CASE("A damaged cubin is called damaged, wherever it comes from", "[session]") {
  Cubin damaged = Helper();
  damaged.resize(damaged.size() + 5000);
  std::fill_n(damaged.begin() + 40, 8, std::uint8_t{0xff});  // e_shoff
  FatbinBuilder member;
  member.kind = CodeKind::kSass;
  member.arch.number = 80;
  const std::string size = std::to_string(damaged.size());
  LinkSession session = MakeSession();
  CHECK_FALSE(session.AddCubin("a.cubin", Cubin(damaged)).ok());
  CHECK_FALSE(
      session.AddInput("b.fatbin", FatbinBuilder::Container({member.Member(damaged)})).ok());
  REQUIRE(session.diagnostics().size() == 2);
  CHECK(session.diagnostics()[0].text == "Input file 'a.cubin' is damaged");
  CHECK(session.diagnostics()[0].notes.back() == "'a.cubin' has " + size + " bytes; make it again");
  CHECK(session.diagnostics()[1].text == "Input file 'b.fatbin' is damaged");
  CHECK(session.AddCubin("text", ByteVector(100, 'x')).code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK(session.diagnostics()[2].notes.front() ==
        "'text' is no kind of file that a device linker knows, where a cubin is expected");
}

TEST_CASE("An executable cubin is no input", "[session]") {
  LinkSession session = MakeSession();
  CHECK(session.AddCubin("linked", LinkPairNamed("a", "b")).code() ==
        absl::StatusCode::kFailedPrecondition);
  CHECK(HasCode(session, DiagnosticCode::kUnsupportedInput));
}

TEST_CASE("Undefined references are reported with the caller", "[session]") {
  LinkSession session = MakeSession();
  const Cubin cubin = BuildCubin(
      {.functions = {{.name = "_Z6kernelv", .calls = {"_Z4nonei", "missing"}, .entry = true}}});
  REQUIRE(session.AddCubin("a.cubin", cubin).ok());
  const auto result = session.Link();
  CHECK(result.status().code() == absl::StatusCode::kNotFound);
  REQUIRE(session.diagnostics().size() == 2);
  std::vector<std::string> symbols;
  for (const Diagnostic& d : session.diagnostics()) {
    CHECK(d.code == DiagnosticCode::kUndefinedReference);
    CHECK(d.severity == Severity::kError);
    CHECK(d.text == "Undefined reference to '" + d.symbol + "' in 'a.cubin'");
    CHECK(d.input == "a.cubin");
    REQUIRE_FALSE(d.notes.empty());
    symbols.push_back(d.symbol);
  }
  std::sort(symbols.begin(), symbols.end());
  CHECK(symbols == std::vector<std::string>{"_Z4nonei", "missing"});
  const std::string text = RenderDiagnostic(session.diagnostics().front(), "devlink");
  CHECK(text.starts_with("devlink error   : Undefined reference to '"));
  CHECK(text.find("\ndevlink note    : ") != std::string::npos);
  CHECK(text.back() == '\n');
}

TEST_CASE("Multiple definitions are reported", "[session]") {
  LinkSession session = MakeSession();
  REQUIRE(session.AddCubin("a", Caller()).ok());
  REQUIRE(session.AddCubin("b", Helper()).ok());
  REQUIRE(session.AddCubin("c", Helper()).ok());
  CHECK(session.Link().status().code() == absl::StatusCode::kAlreadyExists);
  CHECK(HasCode(session, DiagnosticCode::kMultipleDefinition));
}

TEST_CASE("Recursion gives a warning, or an error where that is wanted", "[session]") {
  const Cubin cubin = BuildCubin(
      {.functions = {{.name = "k", .calls = {"f"}, .entry = true}, {.name = "f", .calls = {"f"}}}});
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  options.report_arch = GENERATE(false, true);
  for (const bool error : {false, true}) {
    options.warnings_are_errors = error;
    auto session = LinkSession::Create(options);
    REQUIRE(session->AddCubin("a", cubin).ok());
    CHECK(session->Link().ok() == !error);
    REQUIRE(HasCode(*session, DiagnosticCode::kStackSizeUnknown));
    for (const Diagnostic& d : session->diagnostics()) {
      CHECK(d.text.ends_with(" (target: sm_80)") == options.report_arch);
    }
  }
  options.warnings_are_errors = false;
  options.suppress_stack_size_warning = true;
  auto session = LinkSession::Create(options);
  REQUIRE(session->AddCubin("a", cubin).ok());
  CHECK(session->Link().ok());
  CHECK(session->diagnostics().empty());
}

TEST_CASE("Linking twice gives the same bytes", "[session]") {
  LinkSession session = MakeSession();
  REQUIRE(session.AddCubin("a", Caller()).ok());
  CHECK_FALSE(session.Link().ok());  // the helper is missing
  REQUIRE(session.AddCubin("b", Helper()).ok());
  const auto first = session.Link();
  const auto second = session.Link();
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(first->cubin == second->cubin);
  CHECK(first->cubin == LinkPairNamed("a", "b"));
}

TEST_CASE("Names of inputs do not enter the output", "[session]") {
  const Cubin plain = LinkPairNamed("a", "b");
  REQUIRE_FALSE(plain.empty());
  CHECK(plain == LinkPairNamed("/somewhere/else.cubin", ""));
  CHECK(plain == LinkPairNamed("same", "same"));
}

TEST_CASE("A program hears when the output is about to be written", "[session]") {
  int calls = 0;
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  options.before_output = [&calls] { ++calls; };
  LinkSession session = *LinkSession::Create(options);
  REQUIRE(session.AddCubin("a", Caller()).ok());
  CHECK_FALSE(session.Link().ok());
  CHECK(calls == 0);
  REQUIRE(session.AddCubin("b", Helper()).ok());
  CHECK(session.Link().ok());
  CHECK(calls == 1);
}

TEST_CASE("A link into a sink writes what a link into memory returns", "[session]") {
  LinkSession session = MakeSession();
  REQUIRE(session.AddCubin("a", Caller()).ok());
  RecordingSink sink;
  CHECK_FALSE(session.LinkTo(sink).ok());  // the helper is missing
  CHECK(sink.begun == 0);
  REQUIRE(session.AddCubin("b", Helper()).ok());
  const auto result = session.LinkTo(sink);
  REQUIRE(result.ok());
  CHECK(result->cubin.empty());
  CHECK(result->report.output_bytes == sink.bytes.size());
  CHECK(sink.announced == sink.bytes.size());
  CHECK((sink.bytes == LinkPairNamed("a", "b")));

  RecordingSink full(0);
  CHECK(session.LinkTo(full).status().code() == absl::StatusCode::kDataLoss);
  CHECK(session.Link().ok());
}

TEST_CASE("The order of inputs counts", "[session]") {
  LinkSession session = MakeSession();
  REQUIRE(session.AddCubin("b", Helper()).ok());
  REQUIRE(session.AddCubin("a", Caller()).ok());
  const auto result = session.Link();
  REQUIRE(result.ok());
  CHECK(result->cubin != LinkPairNamed("a", "b"));
}

TEST_CASE("However bytes are handed over, the output is the same", "[session]") {
  const TemporaryDirectory directory;
  REQUIRE(WriteBytes(directory.File("a"), Caller()));
  const Cubin helper = Helper();
  auto pool = std::make_shared<ModulePool>();
  LinkSession session = MakeSession("sm_80", pool);
  REQUIRE(session.AddFile(directory.File("a")).ok());
  REQUIRE(session.AddModule("b", *pool->AddCubin(helper)).ok());
  const auto result = session.Link();
  REQUIRE(result.ok());
  CHECK(result->cubin == LinkPairNamed("a", "b"));
}

TEST_CASE("An empty link gives an empty program", "[session]") {
  LinkSession session = MakeSession();
  const auto result = session.Link();
  CHECK(result.ok() == !(HasCode(session, DiagnosticCode::kUsage)));
}

TEST_CASE("Sessions side by side produce what one alone produces", "[session]") {
  const Cubin expected = LinkPairNamed("a", "b");
  REQUIRE_FALSE(expected.empty());
  const bool shared = GENERATE(false, true);
  const auto pool = shared ? std::make_shared<ModulePool>() : nullptr;
  constexpr std::size_t kThreads = 8;
  std::vector<int> wrong(kThreads, 0);
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) wrong[t] += LinkPairNamed("a", "b", pool) != expected ? 1 : 0;
      });
    }
  }
  CHECK(wrong == std::vector<int>(kThreads, 0));
  if (shared) CHECK(pool->size() == 2);
}

class Lines : public LogSink {
 public:
  [[nodiscard]] bool Wants(LogLevel level) const override { return level == LogLevel::kDebug; }
  void Write(LogLevel /*level*/, std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

TEST_CASE("A log sink hears of the passes", "[session]") {
  Lines log;
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  auto session = LinkSession::Create(options, nullptr, &log);
  REQUIRE(session->AddCubin("a", Caller()).ok());
  REQUIRE(session->AddCubin("b", Helper()).ok());
  REQUIRE(session->Link().ok());
  CHECK_FALSE(log.lines.empty());
}

}  // namespace
}  // namespace devlink::testing
