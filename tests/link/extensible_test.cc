// SPDX-License-Identifier: Apache-2.0
//
// Extensible whole programs, which nvcc -ewp makes for kernels that launch kernels: an assembler
// laid out each kernel with all that it calls, but for what the device runtime defines.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "devlink-diff/cubin_diff.h"
#include "devlink-diff/cubin_view.h"
#include "devlink/devlink.h"
#include "random/link_pair.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::array<std::string_view, 4> kTargets = {"sm_75", "sm_90", "sm_100", "sm_120"};

// Of the device functions of one file.
constexpr std::string_view kFunctions =
    ".weak .func (.param .b32 r) shares(.param .b32 x)\n{\n .reg .b32 a; .shared .b32 s[7];\n"
    " ld.param.b32 a, [x]; st.shared.b32 [s+8], a; bar.sync 0; ld.shared.b32 a, [s+8];\n"
    " add.s32 a, a, 3; st.param.b32 [r], a; ret;\n}\n"
    ".weak .func (.param .b32 r) stacks(.param .b32 x)\n{\n .reg .b32 a, c, d, e; .local .b32 "
    "t[20];\n"
    " ld.param.b32 a, [x]; mov.u32 d, t; and.b32 c, a, 60; add.s32 e, d, c; st.local.b32 [e], a;\n"
    " and.b32 c, a, 28; add.s32 e, d, c; ld.local.b32 a, [e]; st.param.b32 [r], a; ret;\n}\n"
    ".weak .func (.param .b32 r) turns(.param .b32 x)\n{\n .reg .b32 a; .reg .pred p;\n"
    " ld.param.b32 a, [x]; setp.lt.s32 p, a, 2; @p bra E; sub.s32 a, a, 1;\n"
    " { .param .b32 i; .param .b32 o; st.param.b32 [i], a; call (o), turns, (i);"
    " ld.param.b32 a, [o]; }\n mul.lo.s32 a, a, 3;\nE: st.param.b32 [r], a; ret;\n}\n";

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::string Head(std::string_view target) {
  return Cat(".version 9.0\n.target ", target, "\n.address_size 64\n");
}

// What a kernel or function has in shared memory, and what it calls.
struct Body {
  std::string_view name;
  int shared = 0;        // bytes
  bool dynamic = false;  // `extern .shared`
  std::vector<std::string_view> callees;
  bool is_weak = false;
};

std::string KernelText(const Body& body) {
  std::string out = Cat(body.is_weak ? ".weak" : ".visible", " .entry ", body.name,
                        "(.param .u64 p)\n{\n .reg .b64 b; .reg .b32 a, c;\n");
  if (body.shared != 0)
    Append(out, " .shared .align 16 .b8 s", body.name, "[", body.shared, "];\n");
  out += " ld.param.u64 b, [p]; ld.global.b32 a, [b];\n";
  const auto pass = [&](std::string_view variable) {
    Append(out, " st.shared.b32 [", variable, "], a; bar.sync 0; ld.shared.b32 c, [", variable,
           "]; add.s32 a, a, c;\n");
  };
  if (body.shared != 0) pass(Cat("s", body.name));
  if (body.dynamic) pass("dynamic");
  for (const std::string_view callee : body.callees) {
    Append(out, " { .param .b32 i; .param .b32 o; st.param.b32 [i], a; call (o), ", callee,
           ", (i); ld.param.b32 a, [o]; }\n");
  }
  return out + " st.global.b32 [b], a; ret;\n}\n";
}

std::string ProgramText(std::string_view target, const std::vector<Body>& kernels) {
  std::string out = Head(target);
  const auto is_dynamic = [](const Body& kernel) { return kernel.dynamic; };
  if (std::ranges::any_of(kernels, is_dynamic)) {
    out += ".extern .shared .align 4 .b32 dynamic[];\n";
  }
  out += ".extern .func (.param .b32 r) outside(.param .b32 x);\n";
  out += kFunctions;
  for (const Body& kernel : kernels) out += KernelText(kernel);
  return out;
}

std::string OutsideText(std::string_view target, bool shares) {
  return Cat(Head(target), ".visible .func (.param .b32 r) outside(.param .b32 x)\n{\n",
             " .reg .b32 a;", shares ? " .shared .b32 own;" : "", " ld.param.b32 a, [x];",
             shares ? " st.shared.b32 [own], a; bar.sync 0; ld.shared.b32 a, [own];" : "",
             " add.s32 a, a, 5; st.param.b32 [r], a; ret;\n}\n");
}

class Workshop {
 public:
  Workshop(const Toolkit& toolkit, std::string_view target) : toolkit_(toolkit), target_(target) {}

  // `-ewp` or `-c`.
  std::string Assemble(const std::string& text, std::string_view how) {
    const std::string source = directory_.File("source.ptx");
    std::string out = directory_.File(Cat("f", ++made_, ".cubin"));
    WriteText(source, text);
    const ProcessResult result =
        RunProcess({toolkit_.ptxas, std::string(how), "-arch", target_, source, "-o", out});
    INFO(result.err);
    REQUIRE(result.ok());
    return out;
  }

  [[nodiscard]] LinkOptions Options() const {
    LinkOptions options;
    options.target = Arch::Parse(target_).value_or(Arch{});
    return options;
  }

  // Empty where nvlink cannot.
  Bytes LinkByNvlink(const std::vector<std::string>& files,
                     const std::vector<std::string>& options = {}) {
    std::vector<std::string> command = {toolkit_.nvlink, "-arch", target_, "-o", Output()};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), files.begin(), files.end());
    said_ = RunProcess(command);
    return said_.ok() ? ReadBytes(Output()).value_or(Bytes()) : Bytes();
  }

  [[nodiscard]] std::string Output() const { return directory_.File("out.cubin"); }
  // What nvlink's last run wrote, in devlink's words.
  [[nodiscard]] std::string Said() const {
    std::string out;
    for (const std::string& line : Lines(said_.err + said_.out)) {
      if (line.starts_with("nvlink ")) out += "devlink" + line.substr(6) + "\n";
    }
    return out;
  }

  void CheckSame(const std::vector<std::string>& files) {
    const Bytes expected = LinkByNvlink(files);
    INFO(said_.err);
    REQUIRE_FALSE(expected.empty());
    const LinkOutcome outcome = LinkWithLibrary(Options(), files);
    INFO(outcome.messages);
    REQUIRE(outcome.ok);
    CHECK(diff::ExplainDifference(expected, outcome.cubin) == "");
    CheckWithoutFinalizer(files, expected);
  }

 private:
  // What is not code is as with it.
  void CheckWithoutFinalizer(const std::vector<std::string>& files, const Bytes& expected) const {
    LinkOptions options = Options();
    options.finalize = FinalizeMode::kNever;
    const LinkOutcome outcome = LinkWithLibrary(options, files);
    INFO(outcome.messages);
    REQUIRE(outcome.ok);
    const diff::CubinView own = diff::ViewCubin(outcome.cubin);
    const diff::CubinView nvlinks = diff::ViewCubin(expected);
    REQUIRE(own.sections.size() == nvlinks.sections.size());
    for (std::size_t i = 0; i < own.sections.size(); ++i) {
      INFO(own.sections[i].name);
      CHECK(own.sections[i].name == nvlinks.sections[i].name);
      if (!own.sections[i].name.starts_with(".nv.shared.")) continue;
      CHECK(own.sections[i].size == nvlinks.sections[i].size);
    }
  }

  const Toolkit& toolkit_;
  const std::string target_;
  TemporaryDirectory directory_{"devlink-extensible"};
  ProcessResult said_;
  int made_ = 0;
};

// For each target, `check` with a workshop for it.
template <typename Check>
void OnEachTarget(const Check& check) {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const std::string_view target : kTargets) {
    INFO(target);
    Workshop workshop(*toolkit, target);
    check(workshop, target);
  }
}

// What nvlink says but for notes, which it has none of.
std::string WithoutNotes(const std::string& messages) {
  std::string out;
  for (const std::string& line : Lines(messages)) {
    if (!line.starts_with("devlink note")) out += line + "\n";
  }
  return out;
}

Bytes DataOf(const Bytes& cubin, std::string_view section) {
  const diff::CubinView view = diff::ViewCubin(cubin);
  const diff::ViewSection* const found = view.Find(section);
  return found == nullptr ? Bytes() : Bytes(found->data.begin(), found->data.end());
}

std::uint64_t SizeOf(const Bytes& cubin, std::string_view section) {
  const diff::CubinView view = diff::ViewCubin(cubin);
  const diff::ViewSection* const found = view.Find(section);
  return found == nullptr ? 0 : found->size;
}

TEST_CASE("Extensible programs link as nvlink links them", "[extensible]") {
  const std::vector<std::vector<Body>> programs = {
      {{.name = "plain"}},
      {{.name = "one", .shared = 48, .callees = {"shares"}}, {.name = "two", .shared = 4}},
      {{.name = "three", .dynamic = true}, {.name = "four"}, {.name = "five", .shared = 20}},
      {{.name = "six", .callees = {"stacks", "turns"}}, {.name = "seven", .callees = {"stacks"}}},
      {{.name = "weak", .shared = 36, .callees = {"turns"}, .is_weak = true}},
  };
  OnEachTarget([&](Workshop& workshop, std::string_view target) {
    std::vector<std::string> files;
    for (const std::vector<Body>& program : programs) {
      files.push_back(workshop.Assemble(ProgramText(target, program), "-ewp"));
      INFO("program " << files.size());
      workshop.CheckSame({files.back()});
    }
    workshop.CheckSame(files);
    std::ranges::reverse(files);
    workshop.CheckSame(files);
  });
}

TEST_CASE("Beside extensible programs nothing else may have shared memory", "[extensible]") {
  OnEachTarget([](Workshop& workshop, std::string_view target) {
    const std::string program = workshop.Assemble(
        ProgramText(target, {{.name = "caller", .shared = 8, .callees = {"outside"}}}), "-ewp");
    const std::string plain = workshop.Assemble(OutsideText(target, false), "-c");
    workshop.CheckSame({program, plain});
    workshop.CheckSame({plain, program});
    const std::string sharing = workshop.Assemble(OutsideText(target, true), "-c");
    for (const auto& files : {std::vector{program, plain}, std::vector{program, sharing}}) {
      const bool links = !workshop.LinkByNvlink(files).empty();
      const LinkOutcome outcome = LinkWithLibrary(workshop.Options(), files);
      CHECK(outcome.ok == links);
      const std::string said = WithoutNotes(outcome.messages);
      CHECK(said == workshop.Said());
      CHECK(said.find("-ewp compiled objects") != std::string::npos);
    }
  });
}

TEST_CASE("Two kernels do not have one part", "[extensible]") {
  OnEachTarget([](Workshop& workshop, std::string_view target) {
    std::vector<std::string> files;
    for (const int shared : {16, 32}) {
      std::string text = ProgramText(
          target, {{.name = "k", .shared = shared, .callees = {"turns"}, .is_weak = true}});
      for (std::size_t at = 0; (at = text.find(".weak .func")) != std::string::npos;) {
        text.replace(at, std::string_view(".weak").size(), ".visible");
      }
      files.push_back(workshop.Assemble(text, "-ewp"));
    }
    CHECK(workshop.LinkByNvlink(files).empty());
    const LinkOutcome outcome = LinkWithLibrary(workshop.Options(), files);
    CHECK_FALSE(outcome.ok);
    CHECK(outcome.messages.find("Multiple definition of '$k$turns'") != std::string::npos);
    CHECK(outcome.messages == workshop.Said());
  });
}

TEST_CASE("What -r would lose of extensible programs is refused", "[extensible]") {
  OnEachTarget([](Workshop& workshop, std::string_view target) {
    const std::string program =
        workshop.Assemble(ProgramText(target, {{.name = "k", .shared = 48}}), "-ewp");
    LinkOptions partial = workshop.Options();
    partial.relocatable = true;
    const LinkOutcome outcome = LinkWithLibrary(partial, {program});
    CHECK_FALSE(outcome.ok);
    CHECK(outcome.messages.find("cannot be linked with -r") != std::string::npos);
    REQUIRE_FALSE(workshop.LinkByNvlink({program}, {"-r"}).empty());
    const LinkOutcome joined = LinkWithLibrary(workshop.Options(), {workshop.Output()});
    CHECK_FALSE(joined.ok);
    CHECK(joined.messages.find("is of a kind that is not linked") != std::string::npos);
  });
}

// Should nvlink come to do so, too, docs/compatibility.md is to be mended.
TEST_CASE("Kernels of extensible programs keep their shared memory", "[extensible]") {
  constexpr std::string_view kSection = ".nv.shared.k";
  OnEachTarget([&](Workshop& workshop, std::string_view target) {
    const std::vector<std::string> files = {workshop.Assemble(
        ProgramText(target, {{.name = "k", .shared = 48}, {.name = "other", .shared = 80}}),
        "-ewp")};
    const std::uint64_t size = SizeOf(workshop.LinkByNvlink(files), kSection);
    REQUIRE(size >= 48);

    CHECK(SizeOf(workshop.LinkByNvlink(files, {"-g"}), kSection) == 0);
    LinkOptions debug = workshop.Options();
    debug.debug = true;
    CHECK(SizeOf(LinkWithLibrary(debug, files).cubin, kSection) == size);

    // nvlink crashes where a kernel with parts is left out.
    const std::vector<std::string> with_parts = {workshop.Assemble(
        ProgramText(target, {{.name = "k", .shared = 48}, {.name = "other", .callees = {"turns"}}}),
        "-ewp")};
    for (const auto& inputs : {files, with_parts}) {
      const Bytes expected = workshop.LinkByNvlink(inputs, {"-kernels-used=k"});
      CHECK(expected.empty() == (inputs == with_parts));
      LinkOptions used = workshop.Options();
      used.kernels_used = {"k"};
      const LinkOutcome outcome = LinkWithLibrary(used, inputs);
      INFO(outcome.messages);
      REQUIRE(outcome.ok);
      CHECK(SizeOf(outcome.cubin, kSection) == size);
      if (expected.empty()) continue;
      // The records of the two tools name the option, or do not.
      CHECK(DataOf(outcome.cubin, ".shstrtab") == DataOf(expected, ".shstrtab"));
      CHECK(DataOf(outcome.cubin, ".symtab") == DataOf(expected, ".symtab"));
    }
  });
}

// A relocation that cannot be resolved has all bits of its value set in nvlink's code.
TEST_CASE("A kernel that replaces an extensible one has its own variables", "[extensible]") {
  OnEachTarget([](Workshop& workshop, std::string_view target) {
    // The smaller one is placed first, where it is alone, too.
    const Body weak = {.name = "k", .shared = 96, .is_weak = true};
    const Body strong = {.name = "k", .shared = 80};
    const std::vector<std::string> files = {workshop.Assemble(ProgramText(target, {weak}), "-ewp"),
                                            workshop.Assemble(ProgramText(target, {strong}), "-c")};
    LinkOptions options = workshop.Options();
    options.finalize = FinalizeMode::kNever;
    const LinkOutcome both = LinkWithLibrary(options, files);
    const LinkOutcome alone = LinkWithLibrary(options, {files.back()});
    INFO(both.messages << alone.messages);
    REQUIRE((both.ok && alone.ok));
    REQUIRE_FALSE(DataOf(alone.cubin, ".text.k").empty());
    CHECK(DataOf(both.cubin, ".text.k") == DataOf(alone.cubin, ".text.k"));
    CHECK(DataOf(workshop.LinkByNvlink(files), ".text.k") != DataOf(both.cubin, ".text.k"));
    CHECK(SizeOf(both.cubin, ".nv.shared.k") >= 80);
  });
}

TEST_CASE("Slots for textures in extensible programs are refused", "[extensible]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  Workshop workshop(*toolkit, "sm_75");
  const std::string program = workshop.Assemble(
      Cat(Head("sm_75"),
          ".global .texref t;\n.visible .entry k(.param .u64 p)\n{\n .reg .b64 b; .reg .b32 a, c, "
          "d, e, x;\n ld.param.u64 b, [p]; mov.u32 x, 1; tex.1d.v4.s32.s32 {a, c, d, e}, [t, "
          "{x}];\n"
          " st.global.b32 [b], a; ret;\n}\n"),
      "-ewp");
  const LinkOutcome outcome = LinkWithLibrary(workshop.Options(), {program});
  CHECK_FALSE(outcome.ok);
  CHECK(outcome.messages.find("is of a kind that is not linked") != std::string::npos);
}

TEST_CASE("Damaged extensible programs are refused or link", "[extensible]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const std::string_view target : {"sm_90", "sm_100"}) {
    Workshop workshop(*toolkit, target);
    const std::string program = workshop.Assemble(
        ProgramText(target, {{.name = "k", .shared = 48, .callees = {"shares", "turns"}}}), "-ewp");
    const Bytes sound = ReadBytes(program).value_or(Bytes());
    LinkOptions options = workshop.Options();
    options.finalize = FinalizeMode::kNever;
    int refused = 0;
    for (std::size_t at = 64; at < sound.size(); at += 7) {
      Bytes damaged = sound;
      damaged[at] ^= static_cast<std::uint8_t>(1U << at % 8);
      WriteBytes(program, damaged);
      const LinkOutcome outcome = LinkWithLibrary(options, {program});
      CHECK((outcome.ok || !outcome.messages.empty()));
      if (!outcome.ok) ++refused;
    }
    CHECK(refused > 100);
  }
}

}  // namespace
}  // namespace devlink::testing
