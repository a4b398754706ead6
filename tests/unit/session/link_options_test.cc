// SPDX-License-Identifier: Apache-2.0
//
// Options of a link, each by what it changes.
#include "devlink/link_options.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "devlink/link_session.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/fatbin_builder.h"
#include "support/process.h"
#include "support/text.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

constexpr Arch kTarget = {.number = 80};

Cubin Kernel(const std::string& name = "k") {
  return BuildCubin({.functions = {{.name = name, .kernel = true}}});
}

LinkOutcome LinkOne(LinkOptions options, const std::string& name, const Cubin& input) {
  options.target = kTarget;
  LinkSession session = *LinkSession::Create(options);
  session.AddInput(name, Cubin(input)).IgnoreError();
  return session.Link();
}

TEST_CASE("suppress_arch_warning silences what is said of an input without code for the target",
          "[session]") {
  const auto fatbin = FatbinBuilder::Container(
      {FatbinBuilder{.kind = CodeKind::kSass, .arch = {.number = 90}}.Member(
          BuildCubin({.sm = 90, .functions = {{.name = "k"}}}))});
  const LinkOutcome warned = LinkOne({}, "a.fatbin", fatbin);
  REQUIRE(warned.diagnostics.size() == 1);
  CHECK(warned.diagnostics[0].severity == Severity::kWarning);
  LinkOptions options;
  options.suppress_arch_warning = true;
  CHECK(LinkOne(options, "a.fatbin", fatbin).diagnostics.empty());
}

TEST_CASE("compatibility decides whether the name of an input counts", "[session]") {
  LinkOptions options;
  CHECK(LinkOne(options, "a.bin", Kernel()).report.inputs == 1);
  options.compatibility = Compatibility::kNvlink;
  CHECK(LinkOne(options, "a.bin", Kernel()).report.inputs == 0);
  CHECK(LinkOne(options, "a.cubin", Kernel()).report.inputs == 1);
}

TEST_CASE("register_directory leaves out what an earlier link has linked", "[session]") {
  const auto link = [](bool registers) {
    LinkOptions options;
    options.target = kTarget;
    if (registers) options.register_directory = "/work";
    LinkSession session = *LinkSession::Create(options);
    const auto object = [](const char* kernel, const char* id) {
      const auto member = FatbinBuilder{.kind = CodeKind::kSass, .arch = kTarget};
      return BuildHostObject(ToText(FatbinBuilder::Container({member.Member(Kernel(kernel))})), id);
    };
    REQUIRE(session.AddInput("linked.o", BuildElf({{"__nv_module_id", std::string("def _a\0", 7)}}))
                .ok());
    REQUIRE(session.AddInput("a.o", object("in_a", "_a")).ok());
    REQUIRE(session.AddInput("b.o", object("in_b", "_b")).ok());
    return session.Link();
  };
  const LinkOutcome all = link(false);
  REQUIRE(all.ok());
  CHECK(all.report.inputs == 2);
  const LinkOutcome rest = link(true);
  REQUIRE(rest.ok());
  CHECK(rest.report.inputs == 1);
  REQUIRE(rest.registered.size() == 2);
  CHECK(rest.registered[0].left_out);
  CHECK_FALSE(rest.registered[1].left_out);
}

TEST_CASE("keep_system_libraries links the device runtime although nothing needs it", "[session]") {
  for (const bool keep : {false, true}) {
    CAPTURE(keep);
    LinkOptions options;
    options.target = kTarget;
    options.keep_system_libraries = keep;
    LinkSession session = *LinkSession::Create(options);
    REQUIRE(session.AddInput("k.cubin", Kernel()).ok());
    REQUIRE(session.AddInput("libcudadevrt.a", BuildArchive({{"r.o", Kernel("r")}})).ok());
    const LinkOutcome outcome = session.Link();
    CHECK(outcome.report.inputs == (keep ? 2 : 1));
    CHECK(outcome.dropped_device_runtime == !keep);
  }
}

TEST_CASE("check_only reads inputs and links nothing", "[session]") {
  LinkOptions options;
  options.check_only = true;
  const LinkOutcome outcome = LinkOne(options, "k.cubin", Kernel());
  CHECK(outcome.ok());
  CHECK(outcome.cubin.empty());
}

// An assembler that says its words, since it writes to no file but its own, and makes one cubin of
// every text.
class Recorder {
 public:
  Recorder() {
    REQUIRE(WriteBytes(directory_.File("made.cubin"), Kernel()));
    REQUIRE(WriteText(path(), Script()));
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }

  // The words that the options of a link become, without names of files.
  std::string WordsOf(LinkOptions options) const {
    options.target = kTarget;
    ToolchainOptions tools;
    tools.ptx = {.backend = PtxBackend::kPtxas,
                 .ptxas_path = path(),
                 .temporary_directory = directory_.path().string()};
    LinkSession session =
        *LinkSession::Create(options, {.toolchain = std::make_shared<Toolchain>(std::move(tools))});
    REQUIRE(session.AddInput("a.ptx", ToBytes(".version 9.0\n.target sm_80\n")).ok());
    const LinkOutcome outcome = session.Link();
    CAPTURE(outcome.status.ToString());
    CHECK(outcome.ok());
    std::string words;
    for (const Diagnostic& diagnostic : outcome.diagnostics) words += diagnostic.text;
    return words;
  }

 private:
  [[nodiscard]] std::string path() const { return directory_.File("ptxas"); }
  [[nodiscard]] std::string Script() const {
    return "#!/bin/sh\n"
           "if [ \"$1\" = --version ]; then\n"
           "  echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit 0\n"
           "fi\n"
           "words=\n"
           "while [ $# -gt 0 ]; do\n"
           "  case \"$1\" in\n"
           "    -o) shift; cat '" +
           directory_.File("made.cubin") +
           "' > \"$1\" ;;\n"
           "    -*) words=\"$words $1\" ;;\n"
           "  esac\n"
           "  shift\n"
           "done\n"
           "echo \"ptxas warning : $words\" >&2\n";
  }
  TemporaryDirectory directory_;
};

TEST_CASE("Options of the assembler reach it", "[session]") {
  const Recorder ptxas;
  const std::string plain = ptxas.WordsOf({});
  CHECK(plain.find("-arch=sm_80") != std::string::npos);
  const auto adds = [&](const std::string& word, const LinkOptions& options) {
    CAPTURE(word);
    CHECK(plain.find(word) == std::string::npos);
    CHECK(ptxas.WordsOf(options).find(word) != std::string::npos);
  };
  LinkOptions words;
  words.xptxas = {"-O1"};
  adds("-O1", words);
  LinkOptions stack;
  stack.stack_protector = true;
  adds("--device-stack-protector=true", stack);
  LinkOptions registers;
  registers.max_registers = 40;
  adds("-maxrregcount=40", registers);
  LinkOptions split;
  split.split_compile = 3;
  adds("-split-compile=3", split);
}

}  // namespace
}  // namespace devlink::testing
