// SPDX-License-Identifier: Apache-2.0
//
// Options stored in a file: what may reach the assembler, and that nothing else does.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink/experimental/ptx_assembler.h"
#include "devlink/experimental/ptxas_options.h"
#include "devlink/link_session.h"
#include "devlink/toolchain.h"
#include "support/catch.h"
#include "support/fatbin_builder.h"
#include "support/process.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

absl::Status Stored(std::string_view text, std::vector<Diagnostic>* found = nullptr) {
  PtxasOptionBuilder builder(*Arch::Parse("sm_80"));
  return builder.MemberOptions(text).Build(found).status();
}

TEST_CASE("What nvcc stores may reach the assembler", "[assemble]") {
  const auto* text = GENERATE(
      "", "--compile-only  ", "--compile-only  -g --dont-merge-basicblocks --return-at-end ",
      "--compile-only  --generate-line-info ", "--compile-only  -maxrregcount=32 ",
      "-O1 -v --warn-on-spills --compile-only  ", "-dlcm=ca --compile-only  ",
      "--compile-only  --fmad false ", "--compile-only  -split-compile=2 ",
      "--compile-only  --device-stack-protector=true ", "-e f --compile-only  ",
      "-O0 -suppress-debug-info --compile-only  ", "-Ofc max --compile-only  ",
      "-O2 -warn-spills --compile-only  -maxrregcount=40 --generate-line-info ",
      "-func-maxrregcount=archmin -maxntid=128,1,1 -minnctapersm 3 -regUsageLevel=3 ",
      "--opt-level=2 --opt-level 1 -O=3 -m64 -m=64 --machine 64 -e _Z1fv,$x%y ");
  CAPTURE(text);
  CHECK(Stored(text).ok());
}

TEST_CASE("What names files, takes texts or asks for too much is refused", "[assemble]") {
  const auto* text = GENERATE(
      // Files to read and to write.
      "-optf x", "-optf=x", "--options-file x", "--options-file=x", "-c --options-file=x", "-o x",
      "-o=x", "--output-file x", "--output-file=/etc/x", "/etc/hostname", "a.ptx", "-c a.ptx",
      "-v x", "-O 2", "-m 64", "-maxntid=1 2",
      // Texts, and what makes no cubin.
      "-ias x", "--input-as-string=x", "-h", "--help", "-V", "--version", "-version-ls",
      // The link decides.
      "-arch=sm_90", "--gpu-name sm_90",
      // Not known.
      "-x", "-", "--", "-=", "--=x", "-knob=x", "--O2", "-opt-level=2", "--dlcm=ca", "-OO",
      "-maxrregcount32", "-Wall", "\"-O2\"", "'-O2'", "\\-O2",
      // Values.
      "-split-compile=257", "-split-compile=-1", "-split-compile=99999999999",
      "-split-compile=0x10", "-split-compile= 1", "-O77", "-O=", "-O=x", "-maxrregcount=-3",
      "-maxrregcount=99999", "-maxrregcount=", "-maxntid=1,,2", "-maxntid=1,x", "-dlcm=../x",
      "-dlcm=", "--fmad=maybe", "--fmad", "-maxrregcount", "-e", "-e a.b", "-e /x", "-e a,,b",
      "-v=1", "-g=true", "--maxrregcount -o", "--maxrregcount -c", "-regUsageLevel=11");
  CAPTURE(text);
  std::vector<Diagnostic> found;
  CHECK(Stored(text, &found).code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::kFatal);
}

// A program that says yes to everything and notes its words.
std::string RecordingAssembler(const TemporaryDirectory& directory) {
  std::string program = directory.File("ptxas");
  REQUIRE(WriteText(program,
                    "#!/bin/sh\n"
                    "if [ \"$1\" = --version ]; then echo 'release 13.0, V13.0.88'; exit 0; "
                    "fi\necho \"$@\" >> " +
                        directory.File("words") + "\n"));
  fs::permissions(program, fs::perms::owner_all);
  return program;
}

TEST_CASE("A fat binary's options start no assembler if one of them is refused", "[assemble]") {
  const TemporaryDirectory directory;
  ToolchainOptions tools;
  tools.ptx.backend = PtxBackend::kPtxas;
  tools.ptx.ptxas_path = RecordingAssembler(directory);
  tools.ptx.temporary_directory = directory.path().string();
  tools.ptx.environment = {"PATH=/usr/bin:/bin"};
  const std::string options = directory.File("options");
  REQUIRE(WriteText(options, "--output-file=" + directory.File("written")));

  auto session = LinkSession::Create({.target = *Arch::Parse("sm_80")},
                                     {.toolchain = std::make_shared<Toolchain>(tools)});
  REQUIRE(session.ok());
  const std::string ptx = ".version 8.0\n.target sm_80\n.address_size 64\n";
  const FatbinBuilder member{
      .arch = *Arch::Parse("sm_80"), .options = "--compile-only -optf " + options, .compat = {}};
  const std::vector<std::uint8_t> code(ptx.begin(), ptx.end());
  REQUIRE(session->AddInput("bad.fatbin", FatbinBuilder::Container({member.Member(code)})).ok());
  const LinkOutcome outcome = session->Link();
  CHECK(outcome.status.code() == absl::StatusCode::kInvalidArgument);
  CHECK_FALSE(fs::exists(directory.File("words")));
  CHECK_FALSE(fs::exists(directory.File("written")));
  // The input and the word are named.
  REQUIRE(outcome.diagnostics.size() == 1);
  const Diagnostic& fatal = outcome.diagnostics[0];
  CHECK(fatal.input == "bad.fatbin");
  const std::string text = RenderDiagnostic(fatal, "devlink");
  CAPTURE(text);
  CHECK(text.find("'-optf' is not an option that a file may give") != std::string::npos);
  CHECK(text.find("the PTX is that of 'bad.fatbin'") != std::string::npos);
}

TEST_CASE("ptxas leaves nothing behind, wherever it writes for itself", "[assemble]") {
  const TemporaryDirectory directory;
  const std::string program = directory.File("ptxas");
  REQUIRE(WriteText(program,
                    "#!/bin/sh\n"
                    "if [ \"$1\" = --version ]; then echo 'release 13.0, V13.0.88'; exit 0; fi\n"
                    "case $TMPDIR in " +
                        directory.File("t") +
                        "/*) ;; *) exit 7 ;; esac\n"
                        "mkdir \"$TMPDIR/d\" && echo x > \"$TMPDIR/d/tmpxft\" || exit 8\n"
                        "echo 'ptxas fatal   : as far as here' >&2\nexit 1\n"));
  fs::permissions(program, fs::perms::owner_all);
  fs::create_directory(directory.File("t"));
  const auto assembler = CreatePtxAssembler({.backend = PtxBackend::kPtxas,
                                             .ptxas_path = program,
                                             .temporary_directory = directory.File("t"),
                                             .environment = {"PATH=/usr/bin:/bin", "TMPDIR=/tmp"}});
  REQUIRE(assembler.ok());
  const PtxResult result = (*assembler)->Assemble({.name = "a.ptx", .text = ".version 8.0\n"});
  CHECK(result.status.ToString().find("as far as here") != std::string::npos);
  CHECK(fs::is_empty(directory.File("t")));
}

}  // namespace
}  // namespace devlink::testing
