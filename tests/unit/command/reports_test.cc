// SPDX-License-Identifier: Apache-2.0
//
// What a command writes of its link besides nvlink's files.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "command/dependency_file.h"
#include "command/kept_files.h"
#include "command/tar.h"
#include "devlink/nvlink_command.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/process.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class ReportFolder {
 public:
  ReportFolder() {
    const Cubin caller =
        BuildCubin({.functions = {{.name = "kernel", .calls = {"helper"}, .kernel = true}}});
    WriteBytes(At("caller.cubin"), caller);
    WriteBytes(At("helper.cubin"), BuildCubin({.functions = {{.name = "helper"}}}));
  }
  [[nodiscard]] std::string At(const std::string& name) const { return directory_.File(name); }
  [[nodiscard]] bool Has(const std::string& name) const { return fs::exists(At(name)); }

  int Run(const Words& words) {
    CommandContext context;
    context.working_directory = fs::path(At("x")).parent_path().string();
    std::vector<CommandMessage> messages;
    const auto command = ParseNvlinkCommand(words, context, &messages);
    INFO(command.status().message());
    REQUIRE(command.ok());
    CHECK(messages.empty());
    out.clear();
    said.clear();
    return RunNvlinkCommand(*command, context,
                            {.out = [this](std::string_view text) { out += text; },
                             .say =
                                 [this](const Diagnostic& diagnostic) {
                                   said += RenderDiagnostic(diagnostic, "devlink");
                                 }});
  }
  int Link(Words more, const Words& inputs = {"caller.cubin", "helper.cubin"}) {
    Words words = {"-arch=sm_80", "-o", At("x.cubin")};
    for (const std::string& input : inputs) words.push_back(At(input));
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  }

  std::string out;
  std::string said;

 private:
  TemporaryDirectory directory_;
};

TEST_CASE("Questions are answered on standard output", "[command]") {
  ReportFolder folder;
  REQUIRE(folder.Link({"--why-live=helper", "--why-live=kernel", "--why-input=caller.cubin",
                       "--why-registers=kernel", "--size"}) == 0);
  for (const char* text : {"  calls helper in '", "1 of 1 functions are in the output",
                           "  registers: 8", "Code by function: 512 bytes"}) {
    CAPTURE(text);
    CHECK(folder.out.find(text) != std::string::npos);
  }
  CHECK(folder.Has("x.cubin"));
}

TEST_CASE("A question about nothing ends the run without an output", "[command]") {
  ReportFolder folder;
  CHECK(folder.Link({"--why-live=helped"}) == 1);
  CHECK(folder.said.find("no function or variable of the link is called 'helped'") !=
        std::string::npos);
  CHECK(folder.said.find("similar: 'helper'") != std::string::npos);
  CHECK_FALSE(folder.Has("x.cubin"));
}

TEST_CASE("A link that fails answers, too", "[command]") {
  ReportFolder folder;
  CHECK(folder.Link({"--why-live=helper"}, {"caller.cubin"}) == 255);
  CHECK(folder.out.find("no input defines it") != std::string::npos);
  CHECK(folder.said.find("Undefined reference to 'helper'") != std::string::npos);
}

TEST_CASE("Reports appear with the output or not at all", "[command]") {
  ReportFolder folder;
  const Words wanted = {"--report",         folder.At("r.html"), "--map",
                        folder.At("r.map"), "--dependency-file", folder.At("r.d")};
  CHECK(folder.Link(wanted, {"caller.cubin"}) == 255);
  for (const char* name : {"r.html", "r.map", "r.d", "x.cubin"}) CHECK_FALSE(folder.Has(name));
  REQUIRE(folder.Link(wanted) == 0);
  CHECK(ReadText(folder.At("r.html")).value().find("<!DOCTYPE html>") != std::string::npos);
  CHECK(ReadText(folder.At("r.map")).value().find("\nKernels\n") != std::string::npos);
  const std::string rule = ReadText(folder.At("r.d")).value();
  CHECK(rule.starts_with(folder.At("x.cubin") + ": \\\n  "));
  CHECK(rule.find(folder.At("helper.cubin") + ":\n") != std::string::npos);
  REQUIRE(folder.Link({"--report", folder.At("r.json")}) == 0);
  CHECK(ReadText(folder.At("r.json")).value().find("\"details\": {") != std::string::npos);
}

TEST_CASE("Rules for make name what they mean", "[command]") {
  using internal::DependencyRule;
  CHECK(DependencyRule("o", {}).value() == "o:\n");
  CHECK(DependencyRule("a b", {"c:d", "e#$f"}).value() ==
        "a\\ b: \\\n  c\\:d \\\n  e\\#$$f\n\nc\\:d:\n\ne\\#$$f:\n");
  CHECK(DependencyRule("o", {"x\\ y"}).value() == "o: \\\n  x\\\\\\ y\n\nx\\\\\\ y:\n");
  CHECK(DependencyRule("o", {"a\nb"}).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("An option file and a member of a thin archive are dependencies", "[command]") {
  ReportFolder folder;
  REQUIRE(WriteText(folder.At("words"), "-v"));
  const auto size = static_cast<std::size_t>(fs::file_size(folder.At("helper.cubin")));
  WriteBytes(folder.At("thin.a"), BuildThinArchive({{"helper.cubin", size}}));
  REQUIRE(folder.Link({"-optf=" + folder.At("words"), "--dependency-file", folder.At("r.d")},
                      {"caller.cubin", "thin.a"}) == 0);
  const std::string rule = ReadText(folder.At("r.d")).value();
  for (const char* name : {"words", "thin.a", "helper.cubin", "caller.cubin"}) {
    CAPTURE(name, rule);
    CHECK(rule.find(folder.At(name) + ":\n") != std::string::npos);
  }
}

TEST_CASE("Headers of tar are what tar reads", "[command]") {
  const std::string header = internal::TarHeader("a/b", 5, true);
  REQUIRE(header.size() == 512);
  CHECK(header.substr(100, 7) == "0000755");
  CHECK(header.substr(124, 11) == "00000000005");
  CHECK(header.substr(257, 8) == std::string("ustar\00000", 8));
  const std::string name(300, 'n');
  const std::string longer = internal::TarHeader(name, 0);
  REQUIRE(longer.size() == 3 * 512);
  CHECK(longer.substr(512, 10) == "310 path=n");
  CHECK(longer[512 + 309] == '\n');
  CHECK(internal::TarPadding(512).empty());
  CHECK(internal::TarPadding(5).size() == 507);
}

TEST_CASE("An archive has what is needed to link again, of a link that fails, too", "[command]") {
  ReportFolder folder;
  const Words wanted = {"-v",    "--reproduce",  folder.At("r.tar"),
                        "--map", folder.At("m"), "-maxrregcount=40"};
  CHECK(folder.Link(wanted, {"caller.cubin"}) == 255);
  REQUIRE(folder.Has("r.tar"));
  REQUIRE(folder.Link(wanted) == 0);
  const std::string tar = ReadText(folder.At("r.tar")).value();
  for (const char* text : {"r/link.sh", "r/version.txt", "'-maxrregcount=40' \\", "'-v' \\",
                           "'-arch=sm_80' \\", "helper.cubin"}) {
    CAPTURE(text);
    CHECK(tar.find(text) != std::string::npos);
  }
  CHECK(tar.find("--map") == std::string::npos);
  CHECK(tar.size() % 512 == 0);
}

TEST_CASE("What a link has in hand is kept, of one that fails, too", "[command]") {
  ReportFolder folder;
  const Words wanted = {"--keep-dir", folder.At("new/keep")};
  CHECK(folder.Link(wanted, {"caller.cubin"}) == 255);
  CHECK(folder.Has("new/keep/6-linked-0001-caller.cubin"));
  CHECK_FALSE(folder.Has("new/keep/8-output-x.cubin"));
  CHECK(ReadText(folder.At("new/keep/redo.sh")).value().find("# the link failed") !=
        std::string::npos);
  REQUIRE(folder.Link(wanted) == 0);
  const auto text = [&folder](const std::string& name) {
    return ReadText(folder.At(name)).value();
  };
  CHECK(text("new/keep/6-linked-0002-helper.cubin") == text("helper.cubin"));
  CHECK(text("new/keep/8-output-x.cubin") == text("x.cubin"));
  CHECK(text("new/keep/redo.sh").find("same 8-output-x.cubin 'x.cubin'\n") != std::string::npos);
}

TEST_CASE("A file that cannot be kept fails the command", "[command]") {
  ReportFolder folder;
  fs::create_directories(folder.At("keep/6-linked-0001-caller.cubin"));
  CHECK(folder.Link({"--keep-dir", folder.At("keep")}) == 1);
  CHECK(folder.said.find("Could not open output file '" +
                         folder.At("keep/6-linked-0001-caller.cubin")) != std::string::npos);
  CHECK(folder.Link({"--keep-dir", folder.At("caller.cubin")}) == 1);
  CHECK(folder.said.find("Could not make the folder '" + folder.At("caller.cubin")) !=
        std::string::npos);
}

TEST_CASE("Names of kept files mean nothing to a file system", "[command]") {
  using internal::KeptName;
  CHECK(KeptName("folder/a.o") == "a.o");
  CHECK(KeptName("libb.a:b.o") == "libb.a_b.o");
  CHECK(KeptName("a/..") == "._");
  CHECK(KeptName("a\n\x1b$(b) \xff'c") == "a____b____c");
  CHECK(KeptName("....") == "._._");
  CHECK(KeptName(std::string(500, 'a') + ".ptx") == std::string(76, 'a') + ".ptx");
  CHECK(KeptName("").empty());
}

TEST_CASE("A partial link has a report", "[command]") {
  ReportFolder folder;
  REQUIRE(folder.Link({"-r", "--report", folder.At("r.json"), "--size"}) == 0);
  CHECK(ReadText(folder.At("r.json")).value().find("\"registers\": 8") != std::string::npos);
}

TEST_CASE("Errors end at a limit, and their number is told", "[command]") {
  ReportFolder folder;
  const Cubin many =
      BuildCubin({.functions = {{.name = "k", .calls = {"a", "b", "c", "d"}, .kernel = true}}});
  WriteBytes(folder.At("many.cubin"), many);
  CHECK(folder.Link({"--error-limit=3"}, {"many.cubin"}) == 255);
  std::size_t errors = 0;
  for (std::size_t at = 0; (at = folder.said.find("error   :", at)) != std::string::npos; ++at) {
    ++errors;
  }
  CHECK(errors == 3);
  CHECK(folder.said.find("1 more errors; --error-limit=0 shows them all") != std::string::npos);
}

}  // namespace
}  // namespace devlink::testing
