// SPDX-License-Identifier: Apache-2.0
#include "devlink/link_session.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "base/bounded_reader.h"
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
  return *LinkSession::Create(options, {.pool = std::move(pool)});
}

Cubin Caller() {
  return BuildCubin({.functions = {{.name = "kernel", .calls = {"helper"}, .kernel = true}}});
}
Cubin Helper() {
  return BuildCubin({.functions = {{.name = "helper", .registers = 30, .frame = 16}}});
}

Cubin LinkPairNamed(const std::string& first, const std::string& second,
                    std::shared_ptr<ModulePool> pool = nullptr) {
  LinkSession session = MakeSession("sm_80", std::move(pool));
  if (!session.AddCubin(first, Caller()).ok() || !session.AddCubin(second, Helper()).ok())
    return {};
  LinkOutcome result = session.Link();
  return result.ok() ? std::move(result.cubin) : Cubin();
}

bool HasCode(const std::vector<Diagnostic>& found, DiagnosticCode code) {
  return std::any_of(found.begin(), found.end(),
                     [code](const Diagnostic& d) { return d.code == code; });
}

TEST_CASE("Two cubins become one", "[session]") {
  LinkSession session = MakeSession();
  REQUIRE(session.AddCubin("a", Caller()).ok());
  REQUIRE(session.AddCubin("b", Helper()).ok());
  const auto result = session.Link();
  REQUIRE(result.ok());
  CHECK(result.diagnostics.empty());
  CHECK(result.cubin.size() == result.report.output_bytes);
  CHECK(result.report.inputs == 2);
  REQUIRE(result.report.kernels.size() == 1);
  CHECK(result.report.kernels[0].name == "kernel");
  CHECK(result.report.kernels[0].registers == 30);
  CHECK(result.report.kernels[0].stack_bytes == std::optional<std::uint64_t>(16));
  CHECK(ToJson(result.report).find("\"kernel\"") != std::string::npos);
}

TEST_CASE("Targets that are not linked are refused", "[session]") {
  CHECK(LinkSession::Create({}).status().code() == absl::StatusCode::kUnimplemented);
}

TEST_CASE("A link for sm_100 without a finalizer says what is missing", "[session]") {
  LinkOptions options;
  options.target = Arch{.number = 101};
  CHECK(LinkSession::Create(options).status().code() == absl::StatusCode::kUnimplemented);
}

TEST_CASE("Without a finalizer a link is its own, unless one is asked for", "[session]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_100");
  for (const FinalizeMode mode : {FinalizeMode::kAutomatic, FinalizeMode::kNever}) {
    options.finalize = mode;
    const auto session = LinkSession::Create(options);
    REQUIRE(session.ok());
    const LinkOutcome result = session->Link();
    CHECK(result.ok());
    CHECK_FALSE(result.cubin.empty());
  }
  options.finalize = FinalizeMode::kAlways;
  const auto session = LinkSession::Create(options);
  REQUIRE(session.ok());
  const LinkOutcome result = session->Link();
  CHECK(result.status.code() == absl::StatusCode::kUnimplemented);
  REQUIRE(result.diagnostics.size() == 1);
  CHECK(result.diagnostics[0].text.find("needs NVIDIA's finalizer") != std::string::npos);
}

TEST_CASE("What a finalizer cannot be told keeps it out, and that is said", "[session]") {
  const auto set = GENERATE(
      +[](LinkOptions& options) {
        options.allow_undefined_globals = true;
        return "-allow-undefined-globals";
      },
      +[](LinkOptions& options) {
        options.reserve_null_pointer = true;
        return "-reserve-null-pointer";
      },
      +[](LinkOptions& options) {
        options.disable_shared_reservation = true;
        return "-disable-smem-reservation";
      },
      +[](LinkOptions& options) {
        options.host_section = "x";
        return "-nv-host";
      },
      +[](LinkOptions& options) {
        options.preserve_relocations = true;
        return "-preserve-relocs";
      });
  LinkOptions options;
  options.target = *Arch::Parse("sm_100");
  const std::string name = set(options);
  for (const FinalizeMode mode : {FinalizeMode::kAutomatic, FinalizeMode::kAlways}) {
    options.finalize = mode;
    auto session = LinkSession::Create(
        options, {.toolchain = std::make_shared<Toolchain>(
                      ToolchainOptions{.finalizer = {.nvjitlink_path = "/bin/false",
                                                     .worker_path = "/bin/false",
                                                     .temporary_directory = "/tmp"}})});
    REQUIRE(session->AddFile(DEVLINK_TEST_SOURCE "/golden/mercury/first.cubin").ok());
    REQUIRE(session->AddFile(DEVLINK_TEST_SOURCE "/golden/mercury/second.cubin").ok());
    const LinkOutcome result = session->Link();
    INFO(result.status.message());
    CHECK(result.ok() == (mode == FinalizeMode::kAutomatic));
    REQUIRE(result.diagnostics.size() == 1);
    REQUIRE(result.diagnostics[0].notes.size() == 1);
    const std::string& note = result.diagnostics[0].notes[0];
    CHECK(std::regex_search(note, std::regex("(the finalizer|libnvJitLink) knows no " + name)));
  }
}

TEST_CASE("An input for another architecture is refused, and the session goes on", "[session]") {
  LinkSession session = MakeSession("sm_90");
  const absl::Status status = session.AddCubin("old.cubin", Caller());
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  REQUIRE(session.diagnostics().size() == 1);
  const Diagnostic d = session.diagnostics().front();
  CHECK(d.code == DiagnosticCode::kArchMismatch);
  CHECK(d.severity == Severity::kFatal);
  CHECK(d.input == "old.cubin");
  CHECK(d.text == "Input file 'old.cubin' arch does not match target 'sm_90'");
  const Cubin right = BuildCubin({.sm = 90, .functions = {{.name = "k", .kernel = true}}});
  CHECK(session.AddCubin("right", right).ok());
  CHECK(session.Link().ok());
}

// Of two weak copies one stays, which only those of two inputs promise to be equal. Which of them
// it would be is decided by their registers.
TEST_CASE("A cubin that has two weak functions of a name is refused", "[session]") {
  for (const std::uint32_t registers : {8U, 16U, 24U}) {
    for (const char* second : {"g", "f"}) {
      Cubin cubin =
          BuildCubin({.functions = {{.name = "k", .calls = {"f"}, .kernel = true},
                                    {.name = "f", .weak = true, .registers = 16},
                                    {.name = "g", .weak = true, .registers = registers}}});
      for (const std::string& name : {std::string("\0g\0", 3), std::string(".text.g\0", 8),
                                      std::string(".nv.info.g\0", 11)}) {
        auto at = std::search(cubin.begin(), cubin.end(), name.begin(), name.end());
        REQUIRE(at != cubin.end());
        // Of a section twice: its symbol is named after it.
        for (; at != cubin.end(); at = std::search(at + 1, cubin.end(), name.begin(), name.end())) {
          at[static_cast<std::ptrdiff_t>(name.size()) - 2] = static_cast<std::uint8_t>(*second);
        }
      }
      for (const bool relocatable : {false, true}) {
        auto session = LinkSession::Create({.target = {.number = 80}, .relocatable = relocatable});
        REQUIRE(session->AddCubin("in", cubin).ok());
        const LinkOutcome result = session->Link();
        CAPTURE(registers, second, relocatable);
        CHECK(result.ok() == (*second == 'g'));
        if (result.ok()) continue;
        CHECK(HasCode(result.diagnostics, DiagnosticCode::kMalformedInput));
        CHECK(result.diagnostics.front().notes.front() ==
              "'f' is defined in it twice, and only one definition could stay");
      }
    }
  }
}

TEST_CASE("Inputs of newer toolkits are refused", "[session]") {
  LinkSession session = MakeSession();
  const Cubin newer = BuildCubin({.toolkit = 131, .functions = {{.name = "k", .kernel = true}}});
  CHECK(session.AddCubin("n", newer).code() == absl::StatusCode::kFailedPrecondition);
  CHECK(HasCode(session.diagnostics(), DiagnosticCode::kInputNewerThanToolkit));
}

TEST_CASE("Inputs of newer toolkits are linked where that is asked for", "[session]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  options.accept_newer_inputs = true;
  LinkSession session = *LinkSession::Create(options);
  const Cubin newer = BuildCubin({.toolkit = 131, .functions = {{.name = "k", .kernel = true}}});
  REQUIRE(session.AddCubin("n", newer).ok());
  CHECK(session.Link().ok());
}

TEST_CASE("Inputs that cannot be read are refused", "[session]") {
  LinkSession session = MakeSession();
  CHECK(session.AddFile("/nonexistent/a.cubin").code() == absl::StatusCode::kNotFound);
  CHECK(HasCode(session.diagnostics(), DiagnosticCode::kUnreadableInput));
  CHECK(session.AddCubin("text", Cubin(100, 'x')).code() == absl::StatusCode::kInvalidArgument);
  CHECK(HasCode(session.diagnostics(), DiagnosticCode::kUnsupportedInput));
  Cubin damaged = Caller();
  damaged.resize(damaged.size() - 1);
  CHECK(session.AddCubin("cut", damaged).code() == absl::StatusCode::kInvalidArgument);
  CHECK(HasCode(session.diagnostics(), DiagnosticCode::kMalformedInput));
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
  CHECK(result.report.inputs == 2);

  const std::string file = directory.File("b.cubin");
  REQUIRE(WriteBytes(file, Helper()));
  LinkSession twice = MakeSession();
  CHECK(twice.AddFile(file).ok());
  CHECK(twice.AddFile(file).ok());
  const LinkOutcome failed = twice.Link();
  CHECK_FALSE(failed.ok());
  CHECK(HasCode(failed.diagnostics, DiagnosticCode::kMultipleDefinition));
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
  CHECK(RegisterFileText(alone.Link(), "/d") == "#define NUM_PRELINKED_OBJECTS 0\n");

  LinkSession needless = MakeSession();
  REQUIRE(needless.AddInput("h.cubin", Helper()).ok());
  const std::string before = RegisterFileText(needless.Link(), "/d");
  CHECK(needless.AddInput("libcudadevrt.a", ByteVector(runtime)).ok());
  const LinkOutcome dropped = needless.Link();
  CHECK(RegisterFileText(dropped, "/d") == before);
  CHECK(KeepsRegisterFile(dropped, ""));

  // The first section has all that is undefined; the second belongs to it all the same.
  LinkSession needed = MakeSession();
  REQUIRE(needed.AddInput("k.cubin", Caller()).ok());
  CHECK(needed.AddInput("libcudadevrt.a", ByteVector(runtime)).ok());
  const LinkOutcome result = needed.Link();
  REQUIRE(result.ok());
  CHECK_FALSE(KeepsRegisterFile(result, ""));
  CHECK(RegisterFileText(result, "/d").starts_with("#define NUM_PRELINKED_OBJECTS 2\n"));
  CHECK(result.report.inputs == 3);
}

TEST_CASE("What was refused is not registered, and does not end the link", "[session]") {
  LinkSession session = MakeSession("sm_90");
  CHECK_FALSE(session.AddInput("k.cubin", Caller()).ok());
  const LinkOutcome result = session.Link();
  CHECK(result.ok());
  CHECK(RegisterFileText(result, "/d") == "#define NUM_PRELINKED_OBJECTS 0\n");
  REQUIRE(result.diagnostics.size() == 1);
  CHECK(result.diagnostics[0].severity == Severity::kFatal);
}

TEST_CASE("What was refused ends the link where that is wanted", "[session]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  options.end_at_rejected_input = true;
  LinkSession session = *LinkSession::Create(options);
  REQUIRE(session.AddCubin("a", Caller()).ok());
  const absl::Status refused =
      session.AddInput("x.cubin", ToBytes("this is not a cubin, however long"
                                          " it is, and never was one"));
  REQUIRE_FALSE(refused.ok());
  REQUIRE(session.AddCubin("b", Helper()).ok());
  const LinkOutcome result = session.Link();
  CHECK(result.status == refused);
  CHECK_FALSE(result.inputs_accepted);
  CHECK(result.cubin.empty());
}

TEST_CASE("PTX that cannot be assembled fails every link, and a copy made before it goes on",
          "[session]") {
  LinkSession session = MakeSession();
  REQUIRE(session.AddInput("k.cubin", Caller()).ok());
  LinkSession without = session;
  REQUIRE(session.AddInput("p.ptx", ToBytes(".version 9.0\n.target sm_80\n")).ok());
  REQUIRE(session.AddInput("h.cubin", Helper()).ok());
  const LinkOutcome first = session.Link();
  const LinkOutcome second = session.Link();
  CHECK_FALSE(first.ok());
  CHECK(first.status == second.status);
  REQUIRE(first.diagnostics.size() == 1);
  REQUIRE(second.diagnostics.size() == 1);
  CHECK(first.diagnostics[0].text == second.diagnostics[0].text);

  REQUIRE(without.AddInput("h.cubin", Helper()).ok());
  const LinkOutcome result = without.Link();
  REQUIRE(result.ok());
  CHECK(result.report.inputs == 2);
  CHECK(RegisterFileText(result, "/d") ==
        "#define NUM_PRELINKED_OBJECTS 2\nDEFINE_REGISTER_FUNC(_d_k_cubin)\n"
        "DEFINE_REGISTER_FUNC(_d_h_cubin)\n");
}

TEST_CASE("A device runtime that cannot be read matters where it is needed", "[session]") {
  ByteVector damaged = Helper();
  damaged.resize(damaged.size() / 2);
  const ByteVector runtime = BuildArchive({{"r.cubin", damaged}});
  LinkSession needless = MakeSession();
  REQUIRE(needless.AddInput("h.cubin", Helper()).ok());
  CHECK(needless.AddInput("libcudadevrt.a", ByteVector(runtime)).ok());
  CHECK(needless.Link().ok());

  LinkSession needed = MakeSession();
  REQUIRE(needed.AddInput("k.cubin", Caller()).ok());
  CHECK(needed.AddInput("libcudadevrt.a", ByteVector(runtime)).ok());
  const LinkOutcome result = needed.Link();
  CHECK(result.status.code() == absl::StatusCode::kInvalidArgument);
  CHECK(HasCode(result.diagnostics, DiagnosticCode::kMalformedInput));
}

TEST_CASE("The search for libraries says what nvlink says", "[session]") {
  const TemporaryDirectory directory;
  REQUIRE(WriteText(directory.File("libtext.a"), "this is not an archive"));
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
        "'text' is not an ELF, PTX or archive file, where a cubin is expected");
}

TEST_CASE("An executable cubin is not an input", "[session]") {
  LinkSession session = MakeSession();
  CHECK(session.AddCubin("linked", LinkPairNamed("a", "b")).code() ==
        absl::StatusCode::kFailedPrecondition);
  CHECK(HasCode(session.diagnostics(), DiagnosticCode::kUnsupportedInput));
}

TEST_CASE("An executable cubin is called that on every target", "[session]") {
  for (const std::uint16_t sm : {std::uint16_t{80}, std::uint16_t{90}}) {
    LinkSession session = MakeSession("sm_" + std::to_string(sm));
    Cubin cubin = BuildCubin({.sm = sm, .functions = {{.name = "k", .kernel = true}}});
    cubin[16] = 2;  // e_type
    CHECK_FALSE(session.AddCubin("linked", cubin).ok());
    REQUIRE(session.diagnostics().size() == 1);
    CHECK(session.diagnostics()[0].text == "Input file 'linked' is not relocatable");
  }
}

TEST_CASE("No bit of e_flags is passed over", "[session]") {
  const Cubin cubin = Caller();
  for (unsigned bit = 0; bit < 24; ++bit) {
    Cubin changed = cubin;
    changed[48 + bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    CAPTURE(bit);
    CHECK(MakeSession("sm_80").AddCubin("changed", changed).code() ==
          absl::StatusCode::kFailedPrecondition);
  }
  // nvlink looks at one bit of the low byte.
  for (const unsigned bit : {0U, 1U, 2U, 7U}) {
    Cubin changed = cubin;
    changed[48] ^= static_cast<std::uint8_t>(1U << bit);
    LinkSession session =
        *LinkSession::Create({.target = {80}, .compatibility = Compatibility::kNvlink});
    CHECK(session.AddCubin("changed", changed).ok() == (bit != 1));
  }
}

TEST_CASE("No bit of the e_flags of CUDA 12 is passed over", "[session]") {
  const Cubin cubin = *ReadBytes(DEVLINK_TEST_SOURCE "/golden/old_12_6.sm_80.1.cubin");
  const auto accepts = [&](unsigned bit, Compatibility compatibility) {
    Cubin changed = cubin;
    changed.at(48 + bit / 8) ^= static_cast<std::uint8_t>(1U << (bit % 8));
    LinkSession session = *LinkSession::Create({.target = {80}, .compatibility = compatibility});
    return session.AddCubin("changed", changed).ok();
  };
  for (const unsigned bit : {13U, 14U, 15U, 24U, 25U, 26U, 27U, 28U, 29U, 30U, 31U}) {
    CAPTURE(bit);
    CHECK_FALSE(accepts(bit, Compatibility::kDevlink));
    CHECK(accepts(bit, Compatibility::kNvlink));
  }
  for (unsigned bit = 0; bit < 8; ++bit) CHECK_FALSE(accepts(bit, Compatibility::kDevlink));
}

TEST_CASE("Only targets with two views have a flag of variants", "[session]") {
  Cubin cubin = BuildCubin({.toolkit = 126, .functions = {{.name = "k", .kernel = true}}});
  cubin[48] |= 8;
  CHECK_FALSE(MakeSession("sm_80").AddCubin("changed", cubin).ok());
}

TEST_CASE("A cubin for another architecture is called that, whatever else it is", "[session]") {
  Cubin cubin = BuildCubin({.sm = 100, .functions = {{.name = "k", .kernel = true}}});
  cubin.resize(cubin.size() / 2);
  LinkSession session = MakeSession("sm_80");
  CHECK_FALSE(session.AddCubin("c", cubin).ok());
  REQUIRE(session.diagnostics().size() == 1);
  CHECK(session.diagnostics()[0].text == "Input file 'c' arch does not match target 'sm_80'");
}

TEST_CASE("Undefined references are reported with the caller", "[session]") {
  LinkSession session = MakeSession();
  const Cubin cubin = BuildCubin(
      {.functions = {{.name = "_Z6kernelv", .calls = {"_Z4nonei", "missing"}, .kernel = true}}});
  REQUIRE(session.AddCubin("a.cubin", cubin).ok());
  const LinkOutcome result = session.Link();
  CHECK(result.status.code() == absl::StatusCode::kNotFound);
  CHECK(result.report.inputs == 1);  // a link that fails has a report, too
  REQUIRE(result.report.kernels.size() == 1);
  REQUIRE(result.diagnostics.size() == 2);
  std::vector<std::string> symbols;
  for (const Diagnostic& d : result.diagnostics) {
    CHECK(d.code == DiagnosticCode::kUndefinedReference);
    CHECK(d.severity == Severity::kError);
    CHECK(d.text == "Undefined reference to '" + d.symbol + "' in 'a.cubin'");
    CHECK(d.input == "a.cubin");
    REQUIRE_FALSE(d.notes.empty());
    symbols.push_back(d.symbol);
  }
  std::sort(symbols.begin(), symbols.end());
  CHECK(symbols == std::vector<std::string>{"_Z4nonei", "missing"});
  const std::string text = RenderDiagnostic(result.diagnostics.front(), "devlink");
  CHECK(text.starts_with("devlink error   : Undefined reference to '"));
  CHECK(text.find("\ndevlink note    : ") != std::string::npos);
  CHECK(text.back() == '\n');
}

// As the command links.
LinkSession MakeSilentSession(bool verbose = false) {
  LinkOptions options = {.target = *Arch::Parse("sm_80"), .verbose = verbose};
  options.pass_over_silently = true;
  return *LinkSession::Create(options);
}

TEST_CASE("Inputs that cannot define what is undefined are named, once", "[session]") {
  LinkSession session = MakeSilentSession();
  REQUIRE(session.AddCubin("a.cubin", Caller()).ok());
  REQUIRE(session.AddInput("plain.o", BuildElf({{".text", "x"}})).ok());
  REQUIRE(
      session
          .AddInput("whole.o", BuildElf({{".nv_fatbin", EmptyFatbin()}, {".nvFatBinSegment", "x"}}))
          .ok());
  const LinkOutcome result = session.Link();
  REQUIRE(result.diagnostics.size() == 2);
  const std::vector<std::string>& notes = result.diagnostics[0].notes;
  REQUIRE(notes.size() == 3);
  CHECK(notes[1] ==
        "no input can call the device code in 'whole.o': compile it with nvcc "
        "-rdc=true");
  CHECK(notes[2] == "add the object or library that defines what is undefined");
  CHECK(result.diagnostics[1].text.empty());
  CHECK(result.diagnostics[1].notes ==
        std::vector<std::string>{"2 inputs brought nothing: 'plain.o' (no device code), 'whole.o' "
                                 "(code that no input can call)"});
}

TEST_CASE("Inputs that bring nothing are told of where all is told, and counted", "[session]") {
  const bool verbose = GENERATE(false, true);
  LinkSession session = MakeSilentSession(verbose);
  REQUIRE(session.FindLibraries({.names = {"nowhere"}}).ok());
  REQUIRE(session.AddInput("empty.o", {}).ok());
  for (int i = 0; i < 7; ++i) {
    REQUIRE(session.AddInput("t" + std::to_string(i), ByteVector(100, 'x')).ok());
  }
  REQUIRE(
      session.AddCubin("k.cubin", BuildCubin({.functions = {{.name = "k", .kernel = true}}})).ok());
  const LinkOutcome outcome = session.Link();
  REQUIRE(outcome.ok());
  REQUIRE(outcome.diagnostics.empty() != verbose);
  if (!verbose) return;
  constexpr const char* kText = " (not an ELF, PTX or archive file)";
  std::string wanted = "9 inputs brought nothing: -lnowhere (no such library), 'empty.o' (empty)";
  for (int i = 0; i < 4; ++i) wanted += ", 't" + std::to_string(i) + "'" + kText;
  CHECK(outcome.diagnostics.back().notes == std::vector<std::string>{wanted + " and 3 more"});
}

TEST_CASE("Libraries of the host and what cannot be read are not blamed", "[session]") {
  const TemporaryDirectory directory;
  const std::string library = directory.File("libm.a");
  REQUIRE(WriteBytes(library, BuildArchive({{"m.o", BuildElf({{".text", "x"}})}})));
  LinkSession session = MakeSession();
  REQUIRE(session.AddCubin("a.cubin", Caller()).ok());
  REQUIRE(session.AddFile(library).ok());
  CHECK_FALSE(session.AddFile(directory.File("none.o")).ok());
  for (const Diagnostic& diagnostic : session.Link().diagnostics) {
    for (const std::string& note : diagnostic.notes) {
      CHECK(note.find("there is no device code") == std::string::npos);
    }
  }
}

TEST_CASE("An input that is given twice is named behind what that leads to", "[session]") {
  LinkSession session = MakeSession();
  for (int i = 0; i < 2; ++i) REQUIRE(session.AddCubin("b.cubin", Helper()).ok());
  const LinkOutcome result = session.Link();
  REQUIRE_FALSE(result.diagnostics.empty());
  CHECK(result.diagnostics[0].code == DiagnosticCode::kMultipleDefinition);
  CHECK(result.diagnostics[0].notes.back() == "'b.cubin' is given twice");
}

TEST_CASE("As nvlink there are the same lines, without notes", "[session]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  options.compatibility = Compatibility::kNvlink;
  auto session = LinkSession::Create(options);
  REQUIRE(session.ok());
  const Cubin cubin = BuildCubin({.functions = {{.name = "k", .calls = {"f"}, .kernel = true}}});
  REQUIRE(session->AddCubin("a.cubin", cubin).ok());
  const LinkOutcome result = session->Link();
  REQUIRE(result.diagnostics.size() == 1);
  CHECK(result.diagnostics[0].text == "Undefined reference to 'f' in 'a.cubin'");
  CHECK(result.diagnostics[0].notes.empty());
}

TEST_CASE("Multiple definitions are reported", "[session]") {
  LinkSession session = MakeSession();
  REQUIRE(session.AddCubin("a", Caller()).ok());
  REQUIRE(session.AddCubin("b", Helper()).ok());
  REQUIRE(session.AddCubin("c", Helper()).ok());
  const LinkOutcome result = session.Link();
  CHECK(result.status.code() == absl::StatusCode::kAlreadyExists);
  CHECK(HasCode(result.diagnostics, DiagnosticCode::kMultipleDefinition));
}

TEST_CASE("With force_rela no list of relocations is without addends", "[session]") {
  // The types of the sections that the headers of an ELF file give.
  const auto count_rel = [](const std::vector<std::uint8_t>& cubin) {
    constexpr std::uint32_t kRel = 9;
    const base::BoundedReader file(cubin);
    const auto table = file.ReadOrZero<std::uint64_t>(0x28);
    int found = 0;
    for (std::uint64_t i = 0; i < file.ReadOrZero<std::uint16_t>(0x3c); ++i) {
      found += file.ReadOrZero<std::uint32_t>(table + i * 64 + 4) == kRel ? 1 : 0;
    }
    return found;
  };
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  for (const bool force : {false, true}) {
    options.force_rela = force;
    auto session = LinkSession::Create(options);
    for (const char* number : {"1", "2", "3"}) {
      const std::string file =
          std::string(DEVLINK_TEST_SOURCE "/golden/diamond.sm_80.") + number + ".cubin";
      REQUIRE(session->AddFile(file).ok());
    }
    const LinkOutcome outcome = session->Link();
    REQUIRE(outcome.ok());
    CHECK((count_rel(outcome.cubin) == 0) == force);
  }
}

TEST_CASE("Recursion gives a warning, or an error where that is wanted", "[session]") {
  const Cubin cubin = BuildCubin({.functions = {{.name = "k", .calls = {"f"}, .kernel = true},
                                                {.name = "f", .calls = {"f"}}}});
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  options.report_arch = GENERATE(false, true);
  for (const bool error : {false, true}) {
    options.warnings_are_errors = error;
    auto session = LinkSession::Create(options);
    REQUIRE(session->AddCubin("a", cubin).ok());
    const LinkOutcome result = session->Link();
    CHECK(result.ok() == !error);
    REQUIRE(HasCode(result.diagnostics, DiagnosticCode::kStackSizeUnknown));
    for (const Diagnostic& d : result.diagnostics) {
      CHECK(d.text.ends_with(" (target: sm_80)") == options.report_arch);
    }
  }
  options.warnings_are_errors = false;
  options.suppress_stack_size_warning = true;
  auto session = LinkSession::Create(options);
  REQUIRE(session->AddCubin("a", cubin).ok());
  const LinkOutcome silent = session->Link();
  CHECK(silent.ok());
  CHECK(silent.diagnostics.empty());
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
  CHECK(first.cubin == second.cubin);
  CHECK(first.cubin == LinkPairNamed("a", "b"));
}

TEST_CASE("Names of inputs do not enter the output", "[session]") {
  const Cubin plain = LinkPairNamed("a", "b");
  REQUIRE_FALSE(plain.empty());
  CHECK(plain == LinkPairNamed("/somewhere/else.cubin", ""));
  CHECK(plain == LinkPairNamed("same", "same"));
}

class Phases : public ProgressSink {
 public:
  void Report(const ProgressEvent& event) override {
    if (event.phase == LinkPhase::kWriting) ++written;
  }
  int written = 0;
};

TEST_CASE("A program hears when the output is about to be written", "[session]") {
  Phases phases;
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  LinkSession session = *LinkSession::Create(options, {.progress = &phases});
  REQUIRE(session.AddCubin("a", Caller()).ok());
  CHECK_FALSE(session.Link().ok());
  CHECK(phases.written == 0);
  REQUIRE(session.AddCubin("b", Helper()).ok());
  CHECK(session.Link().ok());
  CHECK(phases.written == 1);
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
  CHECK(result.cubin.empty());
  CHECK(result.report.output_bytes == sink.bytes.size());
  CHECK(sink.announced == sink.bytes.size());
  CHECK((sink.bytes == LinkPairNamed("a", "b")));

  RecordingSink full(0);
  CHECK(session.LinkTo(full).status.code() == absl::StatusCode::kDataLoss);
  CHECK(session.Link().ok());
}

TEST_CASE("The order of inputs counts", "[session]") {
  LinkSession session = MakeSession();
  REQUIRE(session.AddCubin("b", Helper()).ok());
  REQUIRE(session.AddCubin("a", Caller()).ok());
  const auto result = session.Link();
  REQUIRE(result.ok());
  CHECK(result.cubin != LinkPairNamed("a", "b"));
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
  CHECK(result.cubin == LinkPairNamed("a", "b"));
}

TEST_CASE("An empty link gives an empty program", "[session]") {
  LinkSession session = MakeSession();
  const auto result = session.Link();
  CHECK(result.ok());
  CHECK_FALSE(result.cubin.empty());
  CHECK(result.diagnostics.empty());
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
  auto session = LinkSession::Create(options, {.log = &log});
  REQUIRE(session->AddCubin("a", Caller()).ok());
  REQUIRE(session->AddCubin("b", Helper()).ok());
  REQUIRE(session->Link().ok());
  CHECK_FALSE(log.lines.empty());
}

}  // namespace
}  // namespace devlink::testing
