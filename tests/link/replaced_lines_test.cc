// SPDX-License-Identifier: Apache-2.0
//
// Weak functions of which a later body replaces the first: nvlink keeps the lines and the frame of
// the first, too, and its finalizer makes them anew as if they were of the body that stays
// (docs/mercury.md, "Lines" and "Frames"). Without the finalizer the same comes out.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink-diff/cubin_view.h"
#include "devlink/devlink.h"
#include "format/line_program.h"
#include "format/line_table.h"
#include "random/link_pair.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Body {
  int values = 0;          // that are alive at once: a body with fewer of them replaces another
  int lines = 0;           // of the source; 0: it has none
  bool has_frame = false;  // it calls a function
  bool has_alias = false;  // it is strong, and known by an earlier name, too
  bool has_table = true;   // compiled with -lineinfo
};

std::string Values(const Body& body) {
  std::vector<std::string> out;
  const int n = body.values;
  for (int i = 0; i < n; ++i) out.push_back(Cat("ld.global.b32 v", i, ", [b+", 4 * i, "];"));
  for (int i = 0; i < n; ++i) {
    out.push_back(
        Cat("mad.lo.s32 v", i, ", v", i, ", v", (i + 1) % n, ", v", (i * 7 + 3) % n, ";"));
  }
  for (int i = 0; i < n; ++i) out.push_back(Cat("mad.lo.s32 x, x, ", 3 + i, ", v", i, ";"));
  const int more = body.lines - 1;
  const int step = more <= 0 ? 0 : std::max(1, static_cast<int>(out.size()) / more);
  std::string text;
  for (int i = 0; i < static_cast<int>(out.size()); ++i) {
    // Of two files, whose lines have the same numbers.
    if (step != 0 && i % step == 0) {
      Append(text, " .loc ", 1 + i / step % 3 / 2, " ", 40 + i / step % 2, " 0\n");
    }
    Append(text, " ", out[static_cast<std::size_t>(i)], "\n");
  }
  return text;
}

std::string TextOf(const Body& body, std::string_view target, int number) {
  const std::string_view name = body.has_alias ? "whole" : "f";
  std::string out = Cat(".version 9.0\n.target ", target, "\n.address_size 64\n");
  if (body.lines != 0) out += ".file 1 \"source.cu\"\n.file 2 \"header.cuh\"\n";
  out += ".extern .func (.param .b32 o) g(.param .b64 p);\n";
  if (body.has_alias) out += ".visible .func (.param .b32 o) f(.param .b64 p);\n";
  Append(out, body.has_alias ? ".visible" : ".weak", " .func (.param .b32 o) ", name,
         "(.param .b64 p)\n{\n .reg .b32 x, v<64>; .reg .b64 b;\n");
  if (body.lines != 0) out += " .loc 1 5 0\n";
  out += " ld.param.b64 b, [p]; mov.b32 x, 0;\n";
  if (body.has_frame) {
    out +=
        " { .param .b64 q; .param .b32 z; st.param.b64 [q], b; call (z), g, (q);\n"
        "   ld.param.b32 x, [z]; }\n";
  }
  out += Values(body) + " st.param.b32 [o], x; ret;\n}\n";
  if (body.has_alias) out += ".alias f, whole;\n";
  Append(out, ".visible .entry k", number, "(.param .b64 p)\n{\n .reg .b32 x; .reg .b64 b;\n",
         " ld.param.b64 b, [p];\n",
         " { .param .b64 q; .param .b32 z; st.param.b64 [q], b; call (z), f, (q);\n"
         "   ld.param.b32 x, [z]; }\n st.global.b32 [b], x; ret;\n}\n");
  return out;
}

constexpr std::string_view kCallee =
    ".visible .func (.param .b32 o) g(.param .b64 p)\n{\n .reg .b32 x; .reg .b64 b;\n"
    " ld.param.b64 b, [p]; ld.b32 x, [b]; st.param.b32 [o], x; ret;\n}\n";

class Workshop {
 public:
  Workshop(const Toolkit& toolkit, std::string_view target) : toolkit_(toolkit), target_(target) {}

  std::string Assemble(const std::string& text, bool has_table) {
    const std::string source = directory_.File("source.ptx");
    std::string out = directory_.File(Cat("f", ++made_, ".cubin"));
    WriteText(source, text);
    std::vector<std::string> command = {toolkit_.ptxas, "-c", "-arch", target_, source, "-o", out};
    if (has_table) command.emplace_back("-lineinfo");
    const ProcessResult result = RunProcess(command);
    INFO(result.err);
    REQUIRE(result.ok());
    return out;
  }
  // CUDA C++, with lines.
  std::string Compile(const std::string& text, const std::string& define) {
    const std::string source = directory_.File(Cat("u", ++made_, ".cu"));
    std::string out = directory_.File(Cat("u", made_, ".cubin"));
    WriteText(source, text);
    const ProcessResult result =
        RunProcess({toolkit_.nvcc, "-arch=" + target_, "-lineinfo", "-rdc=true", "-cubin",
                    "-D" + define, source, "-o", out});
    INFO(result.err);
    REQUIRE(result.ok());
    return out;
  }
  std::string Callee() {
    return Assemble(Cat(".version 9.0\n.target ", target_, "\n.address_size 64\n", kCallee), false);
  }

  // What both make of the files; false where nvlink cannot.
  bool Link(const std::vector<std::string>& files, bool relocatable, FinalizeMode finalize) {
    std::vector<std::string> command = {toolkit_.nvlink, "-arch", target_, "-o", Output()};
    if (relocatable) command.emplace_back("-r");
    command.insert(command.end(), files.begin(), files.end());
    if (!RunProcess(command).ok()) return false;
    expected_ = ReadBytes(Output()).value_or(Bytes());
    LinkOptions options;
    options.target = Arch::Parse(target_).value_or(Arch{});
    options.finalize = finalize;
    options.compatibility = Compatibility::kNvlink;
    options.relocatable = relocatable;
    const LinkOutcome outcome = LinkWithLibrary(options, files);
    INFO(outcome.messages);
    REQUIRE(outcome.ok);
    actual_ = outcome.cubin;
    return true;
  }

  // How many sequences of lines a file has; each comes back when its rows are written.
  static int RewriteLines(const std::string& file) {
    const Bytes cubin = ReadBytes(file).value_or(Bytes());
    const diff::CubinView view = diff::ViewCubin(cubin);
    int out = 0;
    for (const std::string_view name : {".debug_line", ".nv_debug_line_sass"}) {
      const diff::ViewSection* section = view.Find(name);
      if (section == nullptr) continue;
      const base::Bytes bytes(section->data.data(), section->data.size());
      const auto table = format::LineTable::Read(bytes);
      REQUIRE(table);
      for (const format::LineUnit& unit : table->units()) {
        const auto scale = format::ReadLineScale(bytes.subspan(unit.begin));
        REQUIRE(scale);
        for (const format::LineSequence& rows : table->SequencesOf(unit)) {
          const base::Bytes sequence = bytes.subspan(rows.begin, rows.end - rows.begin);
          const auto program = format::ReadLineProgram(sequence, *scale, 10000);
          REQUIRE(program);
          CHECK(format::WriteLineProgram(*program, *scale) ==
                Bytes(sequence.begin(), sequence.end()));
          ++out;
        }
      }
    }
    return out;
  }

  // What nvlink's -r makes of them.
  std::string Partial(const std::vector<std::string>& files) {
    std::string out = directory_.File("partial.cubin");
    std::vector<std::string> command = {toolkit_.nvlink, "-r", "-arch", target_, "-o", out};
    command.insert(command.end(), files.begin(), files.end());
    REQUIRE(RunProcess(command).ok());
    return out;
  }

  // Sections with such names that differ.
  [[nodiscard]] std::vector<std::string> Different(std::string_view about) const {
    const diff::CubinView expected = diff::ViewCubin(expected_);
    const diff::CubinView actual = diff::ViewCubin(actual_);
    std::vector<std::string> out;
    for (const diff::ViewSection& section : expected.sections) {
      if (section.name.find(about) == std::string::npos) continue;
      const diff::ViewSection* other = actual.Find(section.name);
      if (other == nullptr || !std::ranges::equal(other->data, section.data)) {
        out.emplace_back(section.name);
      }
    }
    return out;
  }
  // Where the sequences of a table of ours end.
  [[nodiscard]] std::vector<std::uint64_t> EndsOfLines(std::string_view name) const {
    const diff::CubinView view = diff::ViewCubin(actual_);
    const diff::ViewSection* section = view.Find(name);
    REQUIRE(section != nullptr);
    const base::Bytes bytes(section->data.data(), section->data.size());
    const auto table = format::LineTable::Read(bytes);
    REQUIRE(table);
    std::vector<std::uint64_t> out;
    for (const format::LineUnit& unit : table->units()) {
      const auto scale = format::ReadLineScale(bytes.subspan(unit.begin));
      REQUIRE(scale);
      for (const format::LineSequence& rows : table->SequencesOf(unit)) {
        const auto program =
            format::ReadLineProgram(bytes.subspan(rows.begin, rows.end - rows.begin), *scale, 1000);
        REQUIRE(program);
        out.push_back(program->end);
      }
    }
    return out;
  }
  [[nodiscard]] std::uint64_t SizeOf(std::string_view section) const {
    const diff::CubinView view = diff::ViewCubin(actual_);
    const diff::ViewSection* found = view.Find(section);
    return found == nullptr ? 0 : found->data.size();
  }

 private:
  [[nodiscard]] std::string Output() const { return directory_.File("out.cubin"); }

  const Toolkit& toolkit_;
  const std::string target_;
  TemporaryDirectory directory_{"devlink-lines"};
  int made_ = 0;
  Bytes expected_;
  Bytes actual_;
};

std::vector<std::string> Assembled(Workshop& shop, std::string_view target,
                                   std::span<const Body> bodies) {
  std::vector<std::string> out;
  for (const Body& body : bodies) {
    const std::string text = TextOf(body, target, static_cast<int>(out.size()));
    out.push_back(shop.Assemble(text, body.has_table));
  }
  return out;
}

// In all ways. `about`: a part of the sections' names.
void CheckLinks(Workshop& shop, std::vector<std::string> files, std::string_view about) {
  files.push_back(shop.Callee());
  for (const bool relocatable : {false, true}) {
    for (const FinalizeMode finalize : {FinalizeMode::kNever, FinalizeMode::kAutomatic}) {
      INFO((relocatable ? "-r" : "whole")
           << (finalize == FinalizeMode::kNever ? ", without the finalizer" : ""));
      REQUIRE(shop.Link(files, relocatable, finalize));
      CHECK(shop.Different(about) == std::vector<std::string>());
    }
  }
  INFO("in two steps");
  REQUIRE(shop.Link({shop.Partial(files)}, false, FinalizeMode::kNever));
  CHECK(shop.Different(about) == std::vector<std::string>());
}

TEST_CASE("Lines and frames of bodies that were replaced are nvlink's", "[mercury][lines]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  // By how many values they have alive; some with lines of the source, some with those of their
  // instructions alone.
  constexpr std::array<Body, 6> kBodies = {
      Body{.values = 60, .lines = 5}, Body{.values = 44}, Body{.values = 36, .lines = 12},
      Body{.values = 16, .lines = 4}, Body{.values = 9},  Body{.values = 2, .lines = 2}};
  for (const std::string_view target : {"sm_90", "sm_100", "sm_120"}) {
    Workshop shop(*toolkit, target);
    const std::vector<std::string> files = Assembled(shop, target, kBodies);
    const std::size_t count = files.size();
    for (const std::string& file : files) CHECK(Workshop::RewriteLines(file) > 0);
    for (std::size_t first = 0; first < count; ++first) {
      for (std::size_t second = 0; second < count; ++second) {
        INFO(target << ", bodies " << first << " " << second);
        if (first != second) CheckLinks(shop, {files[first], files[second]}, "debug_");
      }
      INFO(target << ", bodies from " << first << " on");
      CheckLinks(shop,
                 {files[first], files[(first + 2) % count], files[(first + 3) % count],
                  files[(first + 4) % count]},
                 "debug_");
    }
  }
}

// Rows say what is inlined where, too, by the number of the row that calls it.
TEST_CASE("Lines of bodies that were replaced with what they inline are nvlink's",
          "[mercury][lines]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  constexpr std::string_view kText =
      "template <class T> __device__ __forceinline__ T Square(T x) { return x * x + T(1); }\n"
      "__device__ __forceinline__ float Leaf(float a, float b) {\n"
      "  for (int i = 0; i < 3; ++i) a = Square(a) + b;\n  return a;\n}\n"
      "__device__ __noinline__ inline float Weak(const float* p) {\n  float v[COUNT];\n"
      "  for (int i = 0; i < COUNT; ++i) v[i] = p[i];\n  float s = 0;\n"
      "  for (int i = 0; i < COUNT; ++i) s = Leaf(s, v[i] * v[(i * 7 + 3) % COUNT]) + "
      "Square(v[i]);\n"
      "  for (int i = 0; i < COUNT; ++i) s += v[i] * Square(v[(i + 5) % COUNT]);\n  return s;\n}\n";
  Workshop shop(*toolkit, "sm_100");
  std::vector<std::string> files;
  for (const int count : {24, 9, 2}) {
    files.push_back(shop.Compile(
        Cat(kText, "__global__ void k", count, "(float* p) { p[0] = Weak(p + threadIdx.x); }\n"),
        Cat("COUNT=", count)));
  }
  for (const std::string& file : files) CHECK(Workshop::RewriteLines(file) > 0);
  CheckLinks(shop, {files[0], files[2]}, "debug_");
  CheckLinks(shop, {files[0], files[1], files[2]}, "debug_");
  CheckLinks(shop, {files[2], files[0]}, "debug_");
}

TEST_CASE("Frames of bodies that replaced one without are nvlink's", "[mercury][frames]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  constexpr std::array<Body, 4> kBodies = {
      Body{.values = 60}, Body{.values = 44, .lines = 2}, Body{.values = 14, .has_frame = true},
      Body{.values = 4, .lines = 2, .has_frame = true, .has_table = false}};
  for (const std::string_view target : {"sm_90", "sm_100", "sm_120"}) {
    INFO(target);
    Workshop shop(*toolkit, target);
    const std::vector<std::string> files = Assembled(shop, target, kBodies);
    for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{0, 2},
                                                  {0, 3},
                                                  {1, 2},
                                                  {1, 3},
                                                  {2, 0},
                                                  {2, 3},
                                                  {3, 2},
                                                  {0, 1, 2},
                                                  {0, 1, 3},
                                                  {0, 3, 2},
                                                  {1, 2, 3}}) {
      std::vector<std::string> inputs;
      for (const std::size_t number : order) inputs.push_back(files[number]);
      INFO("bodies " << order[0] << " " << order[1] << " of " << order.size());
      CheckLinks(shop, inputs, "debug_frame");
    }
  }
}

// Of the places of a body without a table its first alone is known, and where it ends.
TEST_CASE("Lines of a replaced body end where the other code does", "[mercury][lines]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  constexpr std::array<Body, 2> kPair = {Body{.values = 60, .lines = 1},
                                         Body{.values = 5, .has_table = false}};
  for (const std::string_view target : {"sm_100", "sm_120"}) {
    INFO(target);
    Workshop shop(*toolkit, target);
    REQUIRE(shop.Link(Assembled(shop, target, kPair), false, FinalizeMode::kNever));
    const std::vector<std::uint64_t> ends = shop.EndsOfLines(".debug_line");
    CHECK(ends == std::vector<std::uint64_t>{shop.SizeOf(".text.f")});
    CHECK(shop.Different(".debug_line") == std::vector<std::string>());
  }
}

// nvlink does not find the places of code by its second name.
TEST_CASE("Lines of code that an alias names first are nvlink's", "[mercury][lines]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  constexpr std::array<Body, 3> kPrograms = {
      Body{.values = 20, .lines = 4, .has_frame = true, .has_alias = true},
      Body{.values = 20, .lines = 1, .has_alias = true}, Body{.values = 9, .has_alias = true}};
  for (const std::string_view target : {"sm_90", "sm_100", "sm_120"}) {
    INFO(target);
    Workshop shop(*toolkit, target);
    for (const std::string& file : Assembled(shop, target, kPrograms))
      CheckLinks(shop, {file}, "debug_");
  }
}

}  // namespace
}  // namespace devlink::testing
