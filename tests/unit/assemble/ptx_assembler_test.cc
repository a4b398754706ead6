// SPDX-License-Identifier: Apache-2.0
//
// One contract for all ways to an assembler, with nvlink as the judge where there is one.
#include "devlink/experimental/ptx_assembler.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <random>
#include <stop_token>
#include <string>
#include <thread>

#include "assemble/tool_note.h"
#include "devlink-diff/cubin_view.h"
#include "devlink/experimental/ptxas_options.h"
#include "format/ptx_text.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using diff::CubinView;
using diff::ViewCubin;
using diff::ViewSection;

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

constexpr std::string_view kHead =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 r) ext(.param .b32 a);\n"
    ".shared .align 4 .b8 s[256];\n.const .align 4 .f32 c[2] = {0f3F800000, 0f40000000};\n";
constexpr std::string_view kKernel =
    ".visible .entry k(.param .u64 p) {\n .reg .u64 %rd<4>; .reg .b32 %r<8>; .reg .f32 %f<4>;\n"
    " ld.param.u64 %rd1, [p];\n ld.global.u32 %r1, [%rd1];\n st.shared.u32 [s+4], %r1;\n"
    " bar.sync 0;\n ld.shared.u32 %r2, [s+8];\n ld.const.f32 %f1, [c+4];\n"
    " cvt.rn.f32.u32 %f2, %r2;\n sin.approx.f32 %f3, %f2;\n fma.rn.f32 %f3, %f3, %f1, %f2;\n"
    " st.global.f32 [%rd1+4], %f3;\n ret;\n}\n";
constexpr std::string_view kCaller =
    ".visible .func (.param .b32 r) call(.param .b32 a) {\n .reg .b32 %r<4>;\n"
    " ld.param.b32 %r1, [a];\n { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1;\n"
    " call.uni (y), ext, (x); ld.param.b32 %r2, [y]; }\n st.param.b32 [r], %r2;\n ret;\n}\n";

std::string Program(std::string_view which) {
  std::string out(kHead);
  if (which != "caller") out += kKernel;
  if (which != "kernel") out += kCaller;
  return out;
}

// The same without shared memory and constants, which libnvJitLink places too early.
std::string GlobalProgram(std::string_view which) {
  std::string out = Program(which);
  for (const std::string_view space : {".shared", ".const"}) {
    for (std::size_t at = out.find(space); at != std::string::npos; at = out.find(space, at)) {
      out.replace(at, space.size(), ".global");
    }
  }
  return out;
}

std::string ProgramFor(const PtxAssembler& assembler, std::string_view which) {
  return assembler.matches_nvlink() ? Program(which) : GlobalProgram(which);
}

PtxBackendOptions Paths(const TemporaryDirectory& directory) {
  PtxBackendOptions options;
  const auto toolkit = FindToolkit();
  if (const std::string library = DEVLINK_PTXCOMPILER; fs::exists(library)) {
    options.nvptxcompiler_path = library;
  }
  if (toolkit.has_value()) {
    options.ptxas_path = toolkit->ptxas;
    for (const char* folder : {"lib64", "lib"}) {
      const fs::path library =
          fs::path(toolkit->nvlink).parent_path().parent_path() / folder / "libnvJitLink.so.13";
      if (options.nvjitlink_path.empty() && fs::exists(library)) {
        options.nvjitlink_path = library.string();
      }
    }
    if (auto profile = ToolkitProfile::ForRelease(toolkit->release); profile.ok()) {
      options.profile = *profile;
    }
  }
  options.temporary_directory = directory.path().string();
  return options;
}

std::vector<std::unique_ptr<PtxAssembler>> Present(const TemporaryDirectory& directory) {
  std::vector<std::unique_ptr<PtxAssembler>> out;
  PtxBackendOptions options = Paths(directory);
  for (const auto& [backend, path] :
       {std::pair{PtxBackend::kNvPtxCompiler, options.nvptxcompiler_path},
        std::pair{PtxBackend::kPtxas, options.ptxas_path},
        std::pair{PtxBackend::kNvJitLink, options.nvjitlink_path}}) {
    if (path.empty()) continue;
    options.backend = backend;
    auto opened = CreatePtxAssembler(options);
    INFO(path << ": " << opened.status().ToString());
    REQUIRE(opened.ok());
    out.push_back(*std::move(opened));
  }
  return out;
}

std::string Text(const PtxResult& result) {
  std::string out;
  for (const Diagnostic& line : result.diagnostics) out += RenderDiagnostic(line, "devlink");
  return out;
}

// nvlink's own assembler: what it says, and the executable that it makes.
struct Judged {
  std::string text;
  std::optional<Bytes> linked;
};

Judged Nvlink(const TemporaryDirectory& directory, const std::string& input,
              const std::string& arch, std::vector<std::string> options) {
  const std::string output = directory.File("judge.cubin");
  fs::remove(output);
  std::vector<std::string> argv = {FindToolkit()->nvlink, "-arch=" + arch, input, "-o", output};
  argv.insert(argv.end(), options.begin(), options.end());
  const ProcessResult run = RunProcess(argv, std::chrono::seconds(20));
  Judged out{run.err, ReadBytes(output)};
  constexpr std::string_view kEnd = "nvlink fatal   : elfLink fatbinary error\n";
  if (out.text.ends_with(kEnd)) out.text.resize(out.text.size() - kEnd.size());
  return out;
}

// The link of a cubin, -r where nvlink would refuse what is undefined.
std::optional<Bytes> Link(const TemporaryDirectory& directory, const Bytes& cubin,
                          const std::string& arch, const std::vector<std::string>& options) {
  const std::string input = directory.File("assembled.cubin");
  REQUIRE(WriteBytes(input, cubin));
  std::vector<std::string> more;
  for (const std::string& option : options) {
    if (option == "-g" || option == "-r") more.push_back(option);
  }
  return Nvlink(directory, input, arch, more).linked;
}

// All but the first record, which is nvlink's and with -g holds file names.
Bytes WithoutOwnRecord(const Bytes& cubin) {
  bool first = true;
  auto out = internal::ChangeToolRecords(cubin, [&](format::ToolRecord& record) {
    if (std::exchange(first, false)) record = {};
  });
  REQUIRE(out.ok());
  return *std::move(out);
}

struct Choice {
  std::vector<std::string> nvlink;  // as given to nvlink
  void (*apply)(PtxasOptionBuilder&);
};

const std::vector<Choice>& Choices() {
  static const std::vector<Choice> kAll = {
      {{"-g"}, [](PtxasOptionBuilder& b) { b.Debug(true); }},
      {{"-maxrregcount", "40"}, [](PtxasOptionBuilder& b) { b.MaxRegisters(40); }},
      {{"-device-stack-protector", "true"}, [](PtxasOptionBuilder& b) { b.StackProtector(true); }},
      {{"-split-compile", "2"}, [](PtxasOptionBuilder& b) { b.SplitCompile(2); }},
      {{"-Xptxas", "-O0, -warn-spills"},
       [](PtxasOptionBuilder& b) { b.Xptxas("-O0, -warn-spills"); }},
      {{"-Xptxas", "\"--def-load-cache=cg\",,-maxrregcount\t32"},
       [](PtxasOptionBuilder& b) { b.Xptxas("\"--def-load-cache=cg\",,-maxrregcount\t32"); }},
  };
  return kAll;
}

TEST_CASE("Assembled with any options, PTX links to what nvlink makes of it", "[assemble]") {
  if (!FindToolkit().has_value()) DEVLINK_SKIP("no CUDA toolkit");
  const TemporaryDirectory directory;
  const std::string input = directory.File("x.ptx");
  REQUIRE(WriteText(input, Program("kernel")));
  for (const auto& assembler : Present(directory)) {
    if (!assembler->matches_nvlink()) continue;
    for (unsigned mask = 0; mask < 1U << Choices().size(); ++mask) {
      std::vector<std::string> options;
      PtxasOptionBuilder builder(*Arch::Parse("sm_90"));
      for (std::size_t i = 0; i < Choices().size(); ++i) {
        if ((mask >> i & 1) == 0) continue;
        const Choice& choice = Choices()[i];
        options.insert(options.end(), choice.nvlink.begin(), choice.nvlink.end());
        choice.apply(builder);
      }
      CAPTURE(assembler->name(), mask);
      const PtxResult result = assembler->Assemble({"x.ptx", Program("kernel"), *builder.Build()});
      const Judged judged = Nvlink(directory, input, "sm_90", options);
      CHECK(Text(result) == judged.text);
      REQUIRE(result.status.ok() == judged.linked.has_value());
      if (!result.status.ok()) continue;
      const auto linked = Link(directory, result.cubin, "sm_90", options);
      REQUIRE(linked.has_value());
      CHECK((WithoutOwnRecord(*linked) == WithoutOwnRecord(*judged.linked)));
    }
  }
}

TEST_CASE("All assemblers agree on every architecture", "[assemble]") {
  const TemporaryDirectory directory;
  const auto assemblers = Present(directory);
  if (assemblers.empty()) DEVLINK_SKIP("no assembler for PTX");
  for (const char* arch : {"sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"}) {
    for (const char* which : {"kernel", "caller", "both"}) {
      for (const char* words : {"", "-g", "-O1 -lineinfo", "-maxrregcount=32"}) {
        std::optional<Bytes> first;
        const auto arguments = PtxasOptionBuilder(*Arch::Parse(arch)).Xptxas(words).Build();
        for (const auto& assembler : assemblers) {
          CAPTURE(assembler->name(), arch, which, words);
          const PtxResult result =
              assembler->Assemble({"x.ptx", ProgramFor(*assembler, which), *arguments, true});
          REQUIRE(result.status.ok());
          CHECK(result.functions.size() == (std::string_view(which) == "both" ? 2 : 1));
          if (!assembler->matches_nvlink()) continue;
          if (!first.has_value()) first = result.cubin;
          CHECK((result.cubin == *first));  // without their bytes in the report
        }
      }
    }
  }
}

// A cubin of libnvJitLink's was laid out once already: whatever depends on a place that the link
// finds later must not be in it.
TEST_CASE("libnvJitLink assembles what it does not place, to the same code", "[assemble]") {
  const TemporaryDirectory directory;
  PtxBackendOptions options = Paths(directory);
  if (options.nvjitlink_path.empty()) DEVLINK_SKIP("no libnvJitLink");
  options.backend = PtxBackend::kNvJitLink;
  const auto jit = CreatePtxAssembler(options);
  REQUIRE(jit.ok());
  const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
  const std::string kernel = ".visible .entry k(.param .u64 p) {\n .reg .b32 %r<9>;\n";
  const std::string reads = " .reg .b64 %rd<3>;\n ld.param.u64 %rd1, [p];\n";
  const std::string end = " st.global.u32 [%rd1], %r1;\n ret;\n}\n";
  const std::vector<std::string> early = {
      head + kernel + " .shared .b32 a;\n" + reads + " st.shared.u32 [a], 1;\n bar.sync 0;\n" +
          " ld.shared.u32 %r1, [a];\n" + end,
      head + ".extern .shared .align 4 .b8 d[];\n" + kernel + reads +
          " ld.shared.u32 %r1, [d+4];\n" + end,
      head + ".const .b32 c = 5;\n" + kernel + reads + " ld.const.u32 %r1, [c];\n" + end,
      head + ".global .texref t;\n" + kernel + reads +
          " tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [t, {%r5}];\n" + end};
  for (const char* arch : {"sm_75", "sm_80", "sm_90"}) {
    const auto arguments = *PtxasOptionBuilder(*Arch::Parse(arch)).Build();
    for (const std::string& text : early) {
      CAPTURE(arch, text);
      const PtxResult result = (*jit)->Assemble({"x.ptx", text, arguments});
      CHECK(result.status.code() == absl::StatusCode::kUnimplemented);
      CHECK(result.cubin.empty());
    }
    for (const auto& other : Present(directory)) {
      if (!FindToolkit().has_value() || !other->matches_nvlink()) continue;
      CAPTURE(arch, other->name());
      const std::string text = GlobalProgram("kernel");
      const PtxResult one = (*jit)->Assemble({"x.ptx", text, arguments});
      const PtxResult two = other->Assemble({"x.ptx", text, arguments});
      INFO(one.status.ToString());
      REQUIRE((one.status.ok() && two.status.ok()));
      const auto linked_one = Link(directory, one.cubin, arch, {});
      const auto linked_two = Link(directory, two.cubin, arch, {});
      REQUIRE((linked_one.has_value() && linked_two.has_value()));
      const CubinView view_one = ViewCubin(*linked_one);
      const CubinView view_two = ViewCubin(*linked_two);
      for (const char* name : {".text.k", ".nv.global.init", ".nv.constant0.k"}) {
        const ViewSection* mine = view_one.Find(name);
        const ViewSection* theirs = view_two.Find(name);
        CAPTURE(name);
        REQUIRE((mine != nullptr && theirs != nullptr));
        CHECK(std::equal(mine->data.begin(), mine->data.end(), theirs->data.begin(),
                         theirs->data.end()));
      }
    }
  }
}

// Whole files, with the gaps in them, and whatever ran before or beside.
TEST_CASE("What was assembled before does not change a cubin", "[assemble]") {
  const TemporaryDirectory directory;
  const PtxBackendOptions paths = Paths(directory);
  if (paths.nvptxcompiler_path.empty() || paths.ptxas_path.empty()) {
    DEVLINK_SKIP("no nvPTXCompiler, or no ptxas to compare with");
  }
  PtxBackendOptions options = paths;
  options.backend = PtxBackend::kNvPtxCompiler;
  const auto library = CreatePtxAssembler(options);
  options.backend = PtxBackend::kPtxas;
  const auto program = CreatePtxAssembler(options);
  REQUIRE((library.ok() && program.ok()));
  std::vector<std::string> texts = {Program("kernel"), Program("caller"), Program("both")};
  texts.push_back(texts.back());
  texts.back().insert(texts.back().find("bar.sync") + 8, ".bogus");
  std::vector<PtxJob> jobs;
  for (const char* arch : {"sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"}) {
    for (const char* words : {"-v", "", "-O0,-v", "-lineinfo"}) {
      const auto arguments = PtxasOptionBuilder(*Arch::Parse(arch)).Xptxas(words).Build();
      for (const std::string& text : texts) {
        jobs.push_back({"x.ptx", text, *arguments, jobs.size() % 3 == 0});
      }
    }
  }
  std::vector<std::optional<Bytes>> expected;
  for (const PtxJob& job : jobs) expected.emplace_back((*program)->Assemble(job).cubin);
  std::mt19937 random(7);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const std::size_t one = random() % jobs.size();
      const std::size_t other = random() % jobs.size();
      PtxResult beside;
      std::thread helper([&] { beside = (*library)->Assemble(jobs[other]); });
      const PtxResult result = (*library)->Assemble(jobs[one]);
      helper.join();
      CAPTURE(one, other);
      CHECK((result.cubin == *expected[one]));
      CHECK((beside.cubin == *expected[other]));
    }
  }
}

TEST_CASE("A refused text is refused in nvlink's words", "[assemble]") {
  if (!FindToolkit().has_value()) DEVLINK_SKIP("no CUDA toolkit");
  const TemporaryDirectory directory;
  const std::string good = Program("both");
  const auto replaced = [&good](std::string_view from, std::string_view to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::vector<std::pair<std::string, int>> texts = {
      {replaced("bar.sync 0", "bar.sync.bogus 0"), 12},
      {replaced(".version 9.0", ".version 9.9"), 1},
      {replaced("sm_75", "sm_999"), 2},
      {replaced("sm_75", "sm_120"), 0},
      {replaced("sm_75", "sm_90a"), 0},
      {replaced("ret;", "ret; \xc3\xa4"), 0},
      {replaced("ld.shared.u32 %r2", "ld.shared.u32 %r77"), 13},
      {good.substr(0, good.size() * 2 / 3), -1},
      {replaced(".address_size 64", ".address_size 32"), -1}};
  for (const auto& assembler : Present(directory)) {
    for (const auto& [text, line] : texts) {
      // libnvJitLink loses the warning that precedes the error about 32 bits.
      if (!assembler->matches_nvlink() && text == texts.back().first) continue;
      const std::string input = directory.File("bad.ptx");
      REQUIRE(WriteText(input, text));
      CAPTURE(assembler->name(), text);
      const PtxResult result = assembler->Assemble(
          {"bad.ptx", text, *PtxasOptionBuilder(*Arch::Parse("sm_90")).Build()});
      CHECK(result.status.code() == absl::StatusCode::kInvalidArgument);
      CHECK(result.cubin.empty());
      CHECK(Text(result) == Nvlink(directory, input, "sm_90", {}).text);
      REQUIRE_FALSE(result.diagnostics.empty());
      CHECK(result.diagnostics.front().input == "bad.ptx");
      if (line >= 0) CHECK(result.diagnostics.front().line == line);
    }
    const std::string input = directory.File("good.ptx");
    REQUIRE(WriteText(input, Program("kernel")));
    for (const char* words : {"-bogus", "-dlcm", "-maxrregcount=x", "-e nobody"}) {
      CAPTURE(assembler->name(), words);
      const std::string text = Program("kernel");
      const PtxResult result = assembler->Assemble(
          {"x.ptx", text, *PtxasOptionBuilder(*Arch::Parse("sm_90")).Xptxas(words).Build()});
      CHECK_FALSE(result.status.ok());
      CHECK(Text(result) == Nvlink(directory, input, "sm_90", {"-Xptxas", words}).text);
    }
  }
}

TEST_CASE("What is not PTX never reaches an assembler", "[assemble]") {
  CHECK(format::BeginsAsPtx(" // a\n /* b */ .version 8.0"));
  for (const char* text : {"", " \n", "// .version", "/* .version", "\177ELF", ".target sm_75",
                           "\xef\xbb\xbf.version 8.0"}) {
    CHECK_FALSE(format::BeginsAsPtx(text));
  }
  const TemporaryDirectory directory;
  for (const auto& assembler : Present(directory)) {
    const PtxResult result = assembler->Assemble({"x",
                                                  "\x7f"
                                                  "ELF",
                                                  {}});
    CHECK(result.status.code() == absl::StatusCode::kInvalidArgument);
    CHECK(result.diagnostics.empty());
  }
}

TEST_CASE("Threads, damage and the first failure", "[assemble]") {
  const TemporaryDirectory directory;
  const auto arguments = *PtxasOptionBuilder(*Arch::Parse("sm_90")).Build();
  for (const auto& assembler : Present(directory)) {
    CAPTURE(assembler->name());
    std::vector<std::string> texts;
    for (std::uint32_t i = 0; i < 40; ++i) {
      std::string text = ProgramFor(*assembler, i % 2 == 0 ? "kernel" : "both");
      if (i >= 24) text[(i * 7919) % text.size()] = static_cast<char>(i * 37 % 127 + 1);
      texts.push_back(std::move(text));
    }
    std::vector<PtxJob> jobs;
    for (const std::string& text : texts) jobs.push_back({"x.ptx", text, arguments});
    const auto together = AssembleAll(*assembler, jobs, {.threads = 8});
    const auto alone = AssembleAll(*assembler, jobs, {.threads = 1, .memory_budget = 1});
    REQUIRE(together.size() == alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      CHECK((together[i].cubin == alone[i].cubin));
      CHECK(Text(together[i]) == Text(alone[i]));
      CHECK(together[i].status.ok() == (i + 1 < alone.size() || alone.size() == jobs.size()));
    }
    CHECK(alone.size() >= 24);
  }
}

TEST_CASE("Option vectors are nvlink's", "[assemble]") {
  using Words = std::vector<std::string>;
  PtxasOptionBuilder builder(*Arch::Parse("sm_90a"));
  builder.Xptxas("-O1, -v,,\"a,b\" c").MaxRegisters(40).SplitCompile(0).StackProtector(false);
  builder.CudaApiVersion("13.0").Debug(true);
  CHECK(*builder.Build() == Words{"-arch=sm_90a", "-m64", "-g", "-O1", "-v", "a,b", "c",
                                  "-maxrregcount=40", "-cuda-api-version=13.0",
                                  "--device-stack-protector=false", "-split-compile=0", "-c"});
  PtxasOptionBuilder member(*Arch::Parse("sm_80"));
  member.MemberOptions(" -O2\t-e f,g ").Xptxas("-O1");
  CHECK(*member.Build() == Words{"-arch=sm_80", "-m64", "-O2", "-e", "f,g", "-c", "-O1"});
  PtxasOptionBuilder lto(*Arch::Parse("sm_80"));
  lto.LinkTimeOptimized(true).Relocatable(false).FastCompileLevel(FastCompile::kMax);
  CHECK(*lto.Build() == Words{"-arch=sm_80", "--Ofast-compile=max", "-m64"});
  PtxasOptionBuilder blocks(*Arch::Parse("sm_80"));
  blocks.LinkTimeOptimized(true).Relocatable(false).KeepBlocks(true);
  CHECK(*blocks.Build() == Words{"-arch=sm_80", "-m64"});
  CHECK(*blocks.Debug(true).Build() ==
        Words{"-arch=sm_80", "-no-bb-merge", "-ret-end", "-g", "-m64"});

  CHECK(PtxasOptionBuilder(*Arch::Parse("sm_80")).MaxRegisters(999).Build().ok());
  CHECK(PtxasOptionBuilder(*Arch::Parse("sm_80")).SplitCompile(-10).Build().ok());
  std::vector<Diagnostic> found;
  CHECK_FALSE(PtxasOptionBuilder(*Arch::Parse("sm_80")).MaxRegisters(1000).Build(&found).ok());
  REQUIRE(found.size() == 1);
  CHECK(found[0].text == "Invalid argument for option '-maxrregcount'");
  CHECK_FALSE(PtxasOptionBuilder(*Arch::Parse("sm_80")).SplitCompile(-100).Build().ok());
  CHECK_FALSE(PtxasOptionBuilder(*Arch::Parse("sm_80")).Xptxas("\"-O1").Build().ok());
  // ptxas itself takes any number.
  CHECK(*PtxasOptionBuilder(*Arch::Parse("sm_80")).LimitNumbers(false).MaxRegisters(1000).Build() ==
        Words{"-arch=sm_80", "-m64", "-maxrregcount=1000", "-c"});
}

TEST_CASE("A missing assembler is named", "[assemble]") {
  CHECK(CreatePtxAssembler({}).status().code() == absl::StatusCode::kNotFound);
  PtxBackendOptions options{.backend = PtxBackend::kNvPtxCompiler,
                            .nvptxcompiler_path = "/nowhere/lib.so"};
  const auto missing = CreatePtxAssembler(options).status();
  CHECK(missing.code() == absl::StatusCode::kNotFound);
  CHECK(std::string(missing.message()).find("/nowhere/lib.so") != std::string::npos);
  options.nvptxcompiler_path = "/proc/self/exe";
  CHECK(CreatePtxAssembler(options).status().code() == absl::StatusCode::kFailedPrecondition);
}

// A ptxas that tells its version and then does what `script` says.
PtxBackendOptions Pretend(const TemporaryDirectory& directory, const std::string& script) {
  const std::string program = directory.File("ptxas");
  REQUIRE(WriteText(
      program, Cat("#!/bin/sh\n"
                   "if [ \"$1\" = --version ]; then echo 'release 13.0, V13.0.88'; exit 0; fi\n",
                   script)));
  fs::permissions(program, fs::perms::owner_all);
  return {.backend = PtxBackend::kPtxas,
          .ptxas_path = program,
          .temporary_directory = directory.path().string(),
          .environment = {"PATH=/usr/bin:/bin"}};
}

// With a log that is copied for each of its lines this would take minutes.
TEST_CASE("Each line of a long log of ptxas is a message that names no file of ours", "[ptx]") {
  constexpr std::size_t kLines = 300'000;
  const TemporaryDirectory directory;
  const auto assembler =
      CreatePtxAssembler(Pretend(directory, Cat("yes \"ptxas $1, line 7; error   : no\" | head -n ",
                                                kLines, " >&2\nexit 255\n")));
  REQUIRE(assembler.ok());
  const PtxResult result = (*assembler)->Assemble({.name = "a.ptx", .text = ".version 8.0\n"});
  CHECK_FALSE(result.status.ok());
  REQUIRE(result.diagnostics.size() == kLines);
  const auto is_ours = [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::kError && diagnostic.line == 7 &&
           diagnostic.text.find('/') == std::string::npos;
  };
  CHECK(std::all_of(result.diagnostics.begin(), result.diagnostics.end(), is_ours));
}

TEST_CASE("ptxas at work is killed when the caller asks to stop", "[ptx]") {
  const TemporaryDirectory directory;
  const PtxBackendOptions options = Pretend(directory, "sleep 600\n");
  const auto assembler = CreatePtxAssembler(options);
  REQUIRE(assembler.ok());
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    source.request_stop();
  });
  const PtxResult result =
      (*assembler)
          ->Assemble({.name = "a.ptx", .text = ".version 8.0\n", .stop = source.get_token()});
  CHECK(absl::IsCancelled(result.status));
  // Nothing is left of it.
  CHECK(std::distance(fs::directory_iterator(directory.path()), {}) == 1);
}

}  // namespace
}  // namespace devlink::testing
