// SPDX-License-Identifier: Apache-2.0
#include "command/host_linker_script.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "support/process.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

TEST_CASE("Of the compiler's words those count that choose a script", "[command]") {
  constexpr std::string_view kPrinted =
      "Configured with: --enable-shared -z away\n"
      " /usr/lib/gcc/collect2 -plugin \"-plugin-opt=-r\" -m elf_x86_64 --as-needed -pie -z now\n"
      "COLLECT_GCC_OPTIONS='-shared' '-m64'\n";
  CHECK(internal::WordsThatChooseScript(kPrinted) ==
        Words{"-m", "elf_x86_64", "-pie", "-z", "now"});
  CHECK(internal::WordsThatChooseScript("collect2 -shared -r -z").size() == 2);
  CHECK(internal::WordsThatChooseScript("clang -shared\n").empty());
  CHECK(internal::WordsThatChooseScript("").empty());
}

TEST_CASE("The script stands between two lines, behind the version", "[command]") {
  constexpr std::string_view kVersion = "ld 2.40\n  Supported:\n   elf\n";
  const std::string before = "ld 2.40\n  Supported:\n   elf\nusing internal linker script:\n====\n";
  CHECK(internal::ScriptIn(before + "a\n   elf\n\nb\n====\n", kVersion) == "a\n\nb\n");
  CHECK(internal::ScriptIn(before + "a\n", kVersion).empty());  // cut off
  CHECK(internal::ScriptIn(before + "====\n", kVersion).empty());
  CHECK(internal::ScriptIn("ld.lld: error: no input files\n", "LLD 19\n").empty());
  CHECK(internal::ScriptIn("", "").empty());
}

// A folder with a compiler and a linker of ours.
class Host {
 public:
  Host() {
    fs::create_directory(At("tools"));
    fs::create_directory(At("temporary"));
    Tool("gcc", "echo gcc $* >>" + At("calls") + "; echo ' collect2 -m elf -pie' >&2");
    Tool("ld", "echo ld $* >>" + At("calls") +
                   "\n"
                   "case $1 in\n"
                   "  -V) echo old ;;\n"
                   "  --verbose) printf 'old\\nusing\\n==\\nSCRIPT of %s\\n==\\n' \"$*\" ;;\n"
                   "  -T) cp \"$2\" " +
                   At("tried") +
                   "; echo 'ld: no input files' >&2; exit 1 ;;\n"
                   "esac");
  }

  [[nodiscard]] std::string At(std::string_view name) const { return directory_.File(name); }
  void Tool(const std::string& name, const std::string& text) const {
    const std::string path = At("tools/" + name);
    REQUIRE(WriteText(path, "#!/bin/sh\n" + text + "\n"));
    fs::permissions(path, fs::perms::owner_all);
  }

  int Run(const Words& words) {
    CommandContext context;
    context.path = "tools:" + At("tools") + ":/usr/bin:/bin";
    context.temporary_directory = At("temporary");
    const auto command = ParseNvlinkCommand(words, context);
    INFO(command.status().message());
    REQUIRE(command.ok());
    out.clear();
    said.clear();
    const int status = RunNvlinkCommand(
        *command, context,
        {.out = [this](std::string_view text) { out += text; },
         .say = [this](const Diagnostic& d) { said += RenderCommandLine(d, "nvlink"); }});
    CHECK(fs::is_empty(At("temporary")));
    return status;
  }

  std::string out;
  std::string said;

 private:
  TemporaryDirectory directory_;
};

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST_CASE("A whole script is the linker's, with the sections of device code", "[command]") {
  Host host;
  REQUIRE(host.Run({"-ghls"}) == 0);
  CHECK(host.out.starts_with("SCRIPT of --verbose -m elf -pie\nSECTIONS\n{\n"));
  CHECK(host.out.ends_with("\t.nv_fatbin : { *(.nv_fatbin) }\n}\n"));
  CHECK(host.said.empty());
  CHECK(ReadText(host.At("tried")) == host.out);
  REQUIRE(host.Run({"-ghls", "-o", host.At("x.lds")}) == 0);
  CHECK(ReadText(host.At("x.lds")) == ReadText(host.At("tried")));
  CHECK(host.out.empty());
}

TEST_CASE("The compiler is run with words, not by a shell", "[command]") {
  Host host;
  REQUIRE(host.Run({"-ghls", "-r", "-host-ccbin=gcc -a $(touch " + host.At("made") + ")"}) == 0);
  CHECK_FALSE(fs::exists(host.At("made")));
  const std::string calls = ReadText(host.At("calls")).value_or("");
  CHECK(Has(calls, "gcc -a $(touch " + host.At("made") + ") -### /dev/null -r -m64\n"));
  REQUIRE(host.Run({"-ghls", "-shared", "-r"}) == 0);
  CHECK(Has(ReadText(host.At("calls")).value_or(""), "gcc -### /dev/null -shared -m64\n"));
}

TEST_CASE("What a script cannot be made of is said, and nothing is written", "[command]") {
  Host host;
  const std::string output = host.At("x.lds");
  REQUIRE(WriteText(output, "earlier"));
  const auto refused = [&](std::string_view reason) {
    CHECK(host.Run({"-ghls", "-o", output}) == 1);
    CAPTURE(host.said);
    CHECK(
        host.said.starts_with("nvlink fatal   : Host linker script creation failed.\n"
                              "devlink note    : "));
    CHECK(Has(host.said, reason));
    CHECK(ReadText(output) == "earlier");
  };
  host.Tool("ld", "echo 'ld: unknown argument' >&2; exit 1");
  refused("prints no script, as GNU ld does: ld: unknown argument");
  host.Tool("ld", "[ $1 = -V ] || printf 'using\\n==\\nx\\n==\\n'");
  refused("does not take its own script");
  host.Tool("ld", "kill -9 $$");
  refused("prints no script");
  CHECK(host.Run({"-ghls", "--compat=nvlink"}) == 1);
  CHECK(host.said == "nvlink fatal   : Host linker script creation failed.\n");
}

TEST_CASE("Without a compiler the script is the linker's own, which is said", "[command]") {
  Host host;
  REQUIRE(host.Run({"-ghls", "-host-ccbin=nowhere"}) == 0);
  CHECK(host.out.starts_with("SCRIPT of --verbose\nSECTIONS"));
  CHECK(Has(host.said, "devlink note    : 'nowhere' cannot be run"));
  host.Tool("silent", "true");
  REQUIRE(host.Run({"-ghls", "-host-ccbin=silent"}) == 0);
  CHECK(Has(host.said, "'silent' does not say how it links"));
  REQUIRE(host.Run({"-ghls", "-host-ccbin=silent", "--compat=nvlink"}) == 0);
  CHECK(host.said.empty());
}

TEST_CASE("A script to add to another needs no tools", "[command]") {
  Host host;
  fs::remove_all(host.At("tools"));
  REQUIRE(host.Run({"-ghls=lcs-aug"}) == 0);
  CHECK(host.out.starts_with("SECTIONS\n{\n"));
  CHECK(host.out.size() == 130);
  REQUIRE(host.Run({"-ghls=lcs-aug", "-o", host.At("x.lds")}) == 0);
  CHECK(ReadText(host.At("x.lds")).value_or("").size() == 130);
  CHECK(host.Run({"-ghls=lcs-aug", "-o", host.At("none/x.lds")}) == 1);
  CHECK(Has(host.said, "Could not open output file"));
}

}  // namespace
}  // namespace devlink::testing
