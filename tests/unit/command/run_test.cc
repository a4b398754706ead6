// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/experimental/link_passes.h"
#include "devlink/link_session.h"
#include "devlink/nvlink_command.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/host_object.h"
#include "support/process.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// A folder with the two halves of a program, in which commands run.
class Folder {
 public:
  Folder() {
    WriteBytes(
        At("caller.cubin"),
        BuildCubin({.functions = {{.name = "kernel", .calls = {"helper"}, .kernel = true}}}));
    WriteBytes(At("helper.cubin"), BuildCubin({.functions = {{.name = "helper"}}}));
  }

  [[nodiscard]] std::string At(std::string_view name) const { return directory_.File(name); }
  [[nodiscard]] Words Whole(const Words& more = {}) const {
    Words words = {"-arch=sm_80", "-o", At("x.cubin"), At("caller.cubin"), At("helper.cubin")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  int Run(const Words& words) {
    CommandContext context;
    context.working_directory = "/work";
    context.library_path = library_path;
    context.environment = environment;
    context.program_directory = program_directory;
    std::vector<CommandMessage> messages;
    const auto command = ParseNvlinkCommand(words, context, &messages);
    INFO(command.status().message());
    REQUIRE(command.ok());
    out.clear();
    said.clear();
    for (const CommandMessage& message : messages) {
      said += RenderDiagnostic(message.diagnostic, "tool");
    }
    return RunNvlinkCommand(*command, context,
                            {.out = [this](std::string_view text) { out += text; },
                             .say =
                                 [this](const Diagnostic& diagnostic) {
                                   said += RenderDiagnostic(diagnostic, "tool");
                                 }});
  }

  std::string library_path;
  std::string program_directory;
  const Environment* environment = nullptr;
  std::string out;
  std::string said;

 private:
  TemporaryDirectory directory_;
};

TEST_CASE("A command links as a session does", "[command]") {
  Folder folder;
  REQUIRE(folder.Run(folder.Whole()) == 0);
  CHECK(folder.said.empty());
  CHECK(folder.out.empty());
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  auto session = LinkSession::Create(options);
  REQUIRE(session.ok());
  REQUIRE(session->AddFile(folder.At("caller.cubin")).ok());
  REQUIRE(session->AddFile(folder.At("helper.cubin")).ok());
  const auto result = session->Link();
  REQUIRE(result.ok());
  CHECK(ReadBytes(folder.At("x.cubin")) == result.cubin);
}

TEST_CASE("A command writes the report and the register file that it is asked for", "[command]") {
  Folder folder;
  const std::string ids = folder.At("ids.h");
  REQUIRE(folder.Run(folder.Whole(
              {"--report", folder.At("r.json"), "--register-link-binaries", ids})) == 0);
  CHECK(ReadText(folder.At("r.json")).value_or("").find("\"kernel\"") != std::string::npos);
  const auto text = ReadText(ids).value_or("");
  CHECK(text.find("DEFINE_REGISTER_FUNC") != std::string::npos);
}

TEST_CASE("A command prints what passes found, in the order of the passes", "[command]") {
  Folder folder;
  REQUIRE(folder.Run(folder.Whole({"--print-after=relocate,merge"})) == 0);
  CHECK(folder.out.starts_with("--- after merge\n"));
  CHECK(folder.out.find("kernel") != std::string::npos);
  const auto second = folder.out.find("--- after relocate\n");
  REQUIRE(second != std::string::npos);
  CHECK(folder.out.find("--- after", second + 1) == std::string::npos);
  // A partial link has the same passes.
  REQUIRE(folder.Run(folder.Whole({"-r", "--print-after=shared"})) == 0);
  CHECK(folder.out.starts_with("--- after shared\n"));
}

TEST_CASE("An option that is in error ends the run behind the inputs, whose faults are said",
          "[command]") {
  Folder folder;
  const std::string error =
      "tool error   : Option '--preserve-relocs' is not fully implemented for gpu archtecture "
      "'sm_90' and may not work as expected\n";
  const Words words = {"-arch=sm_90", "-o", folder.At("x.cubin"), "-preserve-relocs", "-Werror"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  };
  fs::create_directory(folder.At("empty"));
  WriteBytes(folder.At("empty/90.cubin"),
             BuildCubin({.sm = 90, .functions = {{.name = "kernel", .kernel = true}}}));
  const std::string good = folder.At("empty/90.cubin");
  CHECK(folder.Run(with({good})) == 255);
  CHECK(folder.said == error);
  CHECK(folder.Run(with({good, folder.At("none")})) == 1);
  CHECK(folder.said.starts_with(error + "tool fatal   : Could not open input file '"));
  CHECK(folder.Run(with({folder.At("caller.cubin")})) == 1);
  CHECK(folder.said.find("does not match target") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.At("x.cubin")));
}

TEST_CASE("No output of devlink's own takes the file of another, or of an input", "[command]") {
  Folder folder;
  const std::string map = folder.At("map");
  const std::string helper = folder.At("helper.cubin");
  for (const Words& more :
       {Words{"--map=" + folder.At("x.cubin")}, Words{"--map=" + map, "--report=" + map},
        Words{"--time-trace=" + map, "--dependency-file=" + map}, Words{"--report=" + helper},
        Words{"--reproduce=" + helper}}) {
    CHECK(folder.Run(folder.Whole(more)) == 1);
    CHECK(folder.said.find("is the file of") != std::string::npos);
  }
  CHECK_FALSE(fs::exists(map));
  CHECK_FALSE(fs::exists(folder.At("x.cubin")));
  CHECK(folder.Run(folder.Whole({"--map=" + map})) == 0);  // the input is as it was
}

TEST_CASE("Every pass that --print-after knows is run", "[command]") {
  Folder folder;
  for (const LinkPass pass : AllPasses()) {
    const std::string name(PassName(pass));
    REQUIRE(folder.Run(folder.Whole({"--print-after=" + name})) == 0);
    CHECK(folder.out.starts_with("--- after " + name + "\n"));
  }
}

TEST_CASE("A table of times that cannot be written ends the run, but as nvlink", "[command]") {
  Folder folder;
  CHECK(folder.Run(folder.Whole({"-time=/dev/full"})) == 1);
  CHECK(folder.said.find("Could not write output file '/dev/full'") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.At("x.cubin")));
  CHECK(folder.Run(folder.Whole({"-time=/dev/full", "--compat=nvlink"})) == 0);
  CHECK(folder.said.empty());
}

TEST_CASE("Watching a link does not change its output", "[command]") {
  Folder folder;
  REQUIRE(folder.Run(folder.Whole()) == 0);
  const auto plain = ReadBytes(folder.At("x.cubin"));
  REQUIRE(folder.Run(folder.Whole({"--print-after=merge", "--time-trace", folder.At("t.json")})) ==
          0);
  CHECK(ReadBytes(folder.At("x.cubin")) == plain);
}

TEST_CASE("The time trace names inputs and passes, of a link that fails, too", "[command]") {
  Folder folder;
  const Words words = {"-arch=sm_80", "-o", folder.At("x.cubin"), folder.At("caller.cubin"),
                       "--time-trace=" + folder.At("t.json")};
  CHECK(folder.Run(words) == 255);
  const std::string json = ReadText(folder.At("t.json")).value_or("");
  for (const std::string text :
       {"traceEvents", "read input", "caller.cubin", "merge", "relocate"}) {
    CAPTURE(text);
    CHECK(json.find(text) != std::string::npos);
  }
  CHECK(folder.Run(folder.Whole({"--time-trace", folder.At("none/t.json")})) == 1);
}

TEST_CASE("A link with errors writes nothing but the register file, and ends with 255",
          "[command]") {
  Folder folder;
  CHECK(folder.Run({"-arch=sm_80", "-o", folder.At("x.cubin"), folder.At("caller.cubin"),
                    "--report=" + folder.At("r.json"),
                    "--register-link-binaries=" + folder.At("ids.h")}) == 255);
  CHECK(folder.said.starts_with("tool error   : Undefined reference to 'helper'"));
  CHECK_FALSE(fs::exists(folder.At("x.cubin")));
  CHECK_FALSE(fs::exists(folder.At("r.json")));
  CHECK(fs::exists(folder.At("ids.h")));
}

TEST_CASE("The first input that cannot be used ends the command with 1", "[command]") {
  Folder folder;
  CHECK(folder.Run(folder.Whole({folder.At("none.o"), folder.At("none2.o"),
                                 "--register-link-binaries=" + folder.At("ids.h")})) == 1);
  CHECK(folder.said.starts_with("tool fatal   : Could not open input file '" + folder.At("none.o") +
                                "'\n"));
  CHECK(folder.said.find("none2.o") == std::string::npos);
  CHECK_FALSE(fs::exists(folder.At("x.cubin")));
  CHECK_FALSE(fs::exists(folder.At("ids.h")));
}

TEST_CASE("What cannot be written ends the command with 1", "[command]") {
  Folder folder;
  const std::string nowhere = folder.At("none/file");
  const std::string text = "tool fatal   : Could not open output file '" + nowhere +
                           "'\ntool note    : No such file or directory\n";
  CHECK(folder.Run({"-arch=sm_80", "-o", nowhere, folder.At("helper.cubin")}) == 1);
  CHECK(folder.said == text);
  CHECK(folder.Run(folder.Whole({"--report", nowhere})) == 1);
  CHECK(folder.said == text);
  CHECK_FALSE(fs::exists(folder.At("x.cubin")));
  CHECK(folder.Run(folder.Whole({"--register-link-binaries", nowhere})) == 1);
  CHECK(folder.said == text);
  CHECK_FALSE(fs::exists(folder.At("x.cubin")));
}

TEST_CASE("Of several outputs all appear or none", "[command]") {
  Folder folder;
  const Words words = folder.Whole(
      {"--report=" + folder.At("r.json"), "--register-link-binaries=" + folder.At("ids.h")});
  // One that cannot be written, each in turn.
  for (const std::string name : {"x.cubin", "r.json", "ids.h"}) {
    CAPTURE(name);
    fs::create_directory(folder.At(name));
    CHECK(folder.Run(words) == 1);
    fs::remove(folder.At(name));
    for (const std::string other : {"x.cubin", "r.json", "ids.h"}) {
      CHECK_FALSE(fs::exists(folder.At(other)));
    }
  }
  CHECK(folder.Run(words) == 0);
  for (const std::string name : {"x.cubin", "r.json", "ids.h"}) CHECK(fs::exists(folder.At(name)));
}

TEST_CASE("A module's id that is code is not written into the register file", "[command]") {
  Folder folder;
  const auto run = [&](const std::string& id, const Words& more) {
    WriteBytes(folder.At("host.o"),
               MakeHostObject(BuildCubin({.functions = {{.name = "helper"}}}), 80,
                              {{.name = "__nv_module_id", .contents = id + '\0'}}));
    Words words = {"-arch=sm_80", "-o", folder.At("x.cubin"), folder.At("host.o")};
    words.insert(words.end(), more.begin(), more.end());
    return folder.Run(words);
  };
  const std::string file = folder.At("ids.h");
  CHECK(run("_0123abcd_4_a_cu_f", {"--register-link-binaries=" + file}) == 0);
  CHECK(ReadText(file).value_or("") ==
        "#define NUM_PRELINKED_OBJECTS 2\n"
        "DEFINE_REGISTER_FUNC(_test_module)\n"
        "DEFINE_REGISTER_FUNC(_0123abcd_4_a_cu_f)\n");
  fs::remove(file);
  for (const std::string id : {"a)\n#include \"/etc/passwd\"\n(", "a b", "a;", "\xc3\xa4", "a\\"}) {
    CAPTURE(id);
    CHECK(run(id, {"--register-link-binaries=" + file}) == 1);
    CHECK(folder.said.find("not a name that may stand in a register file") != std::string::npos);
    CHECK_FALSE(fs::exists(file));
    CHECK(run(id, {}) == 0);  // nobody writes it
  }
}

TEST_CASE("A stopped command writes nothing", "[command]") {
  class Stopped : public ForwardingEnvironment {
   public:
    [[nodiscard]] std::stop_token StopToken() const override {
      std::stop_source source;
      source.request_stop();
      return source.get_token();
    }
  };
  const Stopped stopped;
  Folder folder;
  folder.environment = &stopped;
  CHECK(folder.Run(folder.Whole({"--report=" + folder.At("r.json")})) == 1);
  CHECK_FALSE(fs::exists(folder.At("x.cubin")));
  CHECK_FALSE(fs::exists(folder.At("r.json")));
}

TEST_CASE("A finalizer that is not there and a cache that is not a folder end the command",
          "[command]") {
  Folder folder;
  const std::string input = DEVLINK_TEST_SOURCE "/golden/mercury/second.cubin";
  CHECK(folder.Run({"-arch=sm_100", "--finalize=always", input, "-o", folder.At("x.cubin")}) == 1);
  CHECK(folder.said.find("tool fatal   : a link for 'sm_100' needs NVIDIA's finalizer") !=
        std::string::npos);
  CHECK_FALSE(fs::exists(folder.At("x.cubin")));
  CHECK(folder.Run({"-arch=sm_100", "--finalize=never", input, "-o", folder.At("x.cubin")}) == 0);
  CHECK(fs::exists(folder.At("x.cubin")));
  CHECK(folder.Run(folder.Whole({"--cache", folder.At("caller.cubin")})) == 1);
  CHECK(folder.said.find("cannot be opened") != std::string::npos);
}

TEST_CASE("A module for caches on servers that is not there or is none ends the command",
          "[command]") {
  Folder folder;
  const std::vector<std::string> words = folder.Whole({"--remote-cache=http://127.0.0.1:1"});
  CHECK(folder.Run(words) == 1);
  CHECK(folder.said.find("--remote-cache needs libdevlink_network_cache.so") != std::string::npos);
  REQUIRE(WriteText(folder.At("libdevlink_network_cache.so"), "none"));
  folder.program_directory = folder.At("");
  CHECK(folder.Run(words) == 1);
  CHECK(folder.said.find("cannot load") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.At("x.cubin")));
}

TEST_CASE("With a virtual architecture nothing is written", "[command]") {
  Folder folder;
  CHECK(folder.Run({"-arch=compute_80", "-o", folder.At("x.cubin"), folder.At("helper.cubin")}) ==
        0);
  CHECK_FALSE(fs::exists(folder.At("x.cubin")));
}

TEST_CASE("Warnings about the words come first", "[command]") {
  Folder folder;
  CHECK(folder.Run(folder.Whole({"-arch=sm_75", "-arch=sm_80", folder.At("none.o")})) == 1);
  CHECK(folder.said.starts_with("tool warning : incompatible redefinition for option 'arch'"));
}

// --- Files that options of nvlink name
// ------------------------------------------------------------

TEST_CASE("What -nv-host names is in the output, and has to be there", "[command]") {
  Folder folder;
  const std::string file = folder.At("host.bin");
  REQUIRE(WriteText(file, "seventeen letters"));
  REQUIRE(folder.Run(folder.Whole({"-nv-host=" + file})) == 0);
  const std::string output = ReadText(folder.At("x.cubin")).value_or("");
  CHECK(output.find("seventeen letters") != std::string::npos);
  CHECK(folder.Run(folder.Whole({"-nv-host=" + folder.At("none"), "-report-arch"})) == 1);
  CHECK(folder.said ==
        "tool fatal   : Could not open input file '" + folder.At("none") + "' (target: sm_80)\n");
  REQUIRE(WriteText(file, ""));
  CHECK(folder.Run(folder.Whole({"-nv-host=" + file})) == 1);
  CHECK(folder.said == "tool fatal   : Could not read file '" + file + "'\n");
}

TEST_CASE("No file passes -uidx", "[command]") {
  Folder folder;
  CHECK(folder.Run(folder.Whole({"-uidx=" + folder.At("helper.cubin")})) == 1);
  CHECK(folder.said == "tool fatal   : Internal error: not uidx input\n");
}

TEST_CASE("-time appends to a file, with headings where it is new", "[command]") {
  constexpr std::string_view kHeadings =
      "source file name , phase name , phase input files , phase output file , arch , tool, metric "
      ", unit\n";
  Folder folder;
  const std::string file = folder.At("times.csv");
  REQUIRE(folder.Run(folder.Whole({"-time", file})) == 0);
  CHECK(ReadText(file) == std::string(kHeadings));
  REQUIRE(WriteText(file, "before\n"));
  REQUIRE(folder.Run(folder.Whole({"-time", file})) == 0);
  CHECK(ReadText(file) == "before\n");
  REQUIRE(folder.Run(folder.Whole({"-time", "-"})) == 0);
  CHECK(folder.out == kHeadings);
  CHECK(folder.Run(folder.Whole({"-time", folder.At("none/t.csv")})) == 1);
  CHECK(folder.said == "tool fatal   : Cannot open file '" + folder.At("none/t.csv") + "'\n");
}

TEST_CASE("The graph of calls is written as text and for Graphviz", "[command]") {
  Folder folder;
  const std::string file = folder.At("graph.dot");
  REQUIRE(folder.Run(folder.Whole({"-dump-callgraph", "-dot", file})) == 0);
  CHECK(folder.said.starts_with("callgraph for sm_80:\n# A: s -> B //"));
  CHECK(ReadText(file).value_or("").starts_with("digraph callgraph {\n"));
  // Whatever becomes of the link.
  CHECK(folder.Run(
            {"-arch=sm_80", "-o", folder.At("y"), folder.At("caller.cubin"), "-dot", file}) == 255);
  CHECK(ReadText(file).value_or("").ends_with(";\n}\n"));
  CHECK(folder.Run(folder.Whole({"-dot", folder.At("none/g")})) == 1);
  CHECK(fs::exists(folder.At("x.cubin")));
}

TEST_CASE("Help and the version need no inputs", "[command]") {
  Folder folder;
  CHECK(folder.Run({"-V"}) == 0);
  CHECK(folder.out == NvlinkVersionText());
  CHECK(folder.Run({"-V", "-h"}) == 0);
  CHECK(folder.out == NvlinkHelpText());
  CHECK(folder.said.empty());
}

TEST_CASE("Libraries are looked for in the folders of -L, then in those of LIBRARY_PATH",
          "[command]") {
  Folder folder;
  const ByteVector archive = BuildArchive({{"x86.o", BuildElf({{".text", "\xc3"}})}});
  for (const char* name : {"one", "two"}) {
    fs::create_directory(folder.At(name));
    WriteBytes(folder.At(std::string(name) + "/libhelper.a"), archive);
  }
  folder.library_path = ":" + folder.At("two") + ":";
  // Every library that is passed over is named.
  const auto passed_over = [&](const char* name) {
    return "tool warning : Skipping incompatible '" + folder.At(name) +
           "/libhelper.a' when searching for -lhelper\n";
  };
  CHECK(folder.Run(folder.Whole({"-lhelper", "-cpu-arch=AARCH64", "-L", folder.At("one")})) == 0);
  CHECK(folder.said == passed_over("one") + passed_over("two"));
  CHECK(folder.Run(folder.Whole({"-lhelper", "-cpu-arch=AARCH64"})) == 0);
  CHECK(folder.said == passed_over("two"));
  CHECK(folder.Run(folder.Whole({"-lhelper"})) == 0);
  CHECK(folder.said.empty());
}

TEST_CASE("A command without sinks is silent", "[command]") {
  const auto help = ParseNvlinkCommand(Words{"-h"}, {});
  REQUIRE(help.ok());
  CHECK(RunNvlinkCommand(*help, {}, {}) == 0);
  const auto bad = ParseNvlinkCommand(Words{"-arch=sm_80", "-o", "/nowhere/x", "/nowhere/y"}, {});
  REQUIRE(bad.ok());
  CHECK(RunNvlinkCommand(*bad, {}, {}) == 1);
}

}  // namespace
}  // namespace devlink::testing
