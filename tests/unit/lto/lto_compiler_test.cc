// SPDX-License-Identifier: Apache-2.0
//
// libNVVM and libnvJitLink as compilers, against each other and against nvlink.
#include "devlink/experimental/lto_compiler.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "devlink/experimental/code_choice.h"
#include "devlink/experimental/fatbin.h"
#include "devlink/experimental/nvvm_program.h"
#include "input/host_object.h"
#include "support/catch.h"
#include "support/lto_tools.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"
#include "unit/lto/said.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;
using Words = std::vector<std::string>;

constexpr Arch kTargets[] = {{75, 0}, {80, 0}, {90, 0}, {90, 'a'}, {100, 0}, {120, 0}};
std::unique_ptr<LtoCompiler> Open(LtoBackend backend) {
  LtoBackendOptions options;
  options.backend = backend;
  options.nvvm_path = NvvmPlace();
  options.nvjitlink_path = NvJitLinkPath();
  auto compiler = CreateLtoCompiler(options);
  return compiler.ok() ? *std::move(compiler) : nullptr;
}

// Everything that a test with the toolkit needs; empty pointers where something is missing.
struct Tools {
  std::optional<Toolkit> toolkit = FindToolkit();
  std::string place = NvvmPlace();
  std::optional<NvvmLibrary> library;
  std::unique_ptr<LtoCompiler> nvvm = Open(LtoBackend::kNvvm);
  std::unique_ptr<LtoCompiler> jit = Open(LtoBackend::kNvJitLink);
  TemporaryDirectory directory;

  Tools() {
    if (auto loaded = NvvmLibrary::Load(place); loaded.ok()) library = *std::move(loaded);
  }
  [[nodiscard]] bool complete() const { return toolkit && library && nvvm && jit; }
};

const Tools& TheTools() {
  static const Tools tools;
  return tools;
}

// A module of LTO IR, as a file and in the form that nvcc puts into objects: compressed, protected.
struct Module {
  std::string name;
  Bytes plain;
  Bytes fatbin;
  std::string fatbin_path;
};

Module MakeModule(const std::string& name, Arch target, std::string_view kernel,
                  std::string_view callee, std::string_view defines) {
  const Tools& tools = TheTools();
  Module out;
  out.name = name;
  auto made = MakeLtoIr(*tools.library, NvvmModule(target.number, kernel, callee, defines), target);
  INFO(Message(made.status()));
  REQUIRE(made.ok());
  out.plain = *std::move(made);
  const std::string stem = Cat(tools.directory.File(name), ".", target.Name());
  REQUIRE(WriteBytes(stem + ".ltoir", out.plain));
  out.fatbin_path = stem + ".fatbin";
  const ProcessResult run = RunProcess(
      {tools.place + "/bin/fatbinary", "-64", "--create=" + out.fatbin_path,
       Cat("--image3=kind=nvvm,sm=", target.Name().substr(3), ",file=", stem, ".ltoir")});
  INFO(run.err);
  REQUIRE(run.ok());
  out.fatbin = ReadBytes(out.fatbin_path).value();
  const auto read = Fatbin::Parse(out.fatbin);
  REQUIRE(read.ok());
  REQUIRE(read->members().at(0).is_obfuscated);
  return out;
}

// The job borrows from the modules.
LtoJob JobOf(std::vector<Module>&& modules, Arch target, Words words, bool as_protected) = delete;
LtoJob JobOf(const std::vector<Module>& modules, Arch target, Words words, bool as_protected) {
  LtoJob job;
  job.target = target;
  for (const Module& module : modules) {
    job.modules.push_back({module.name, as_protected ? module.fatbin : module.plain, as_protected});
  }
  words.insert(words.begin(), {Cat("-arch=compute_", target.number), "-link-lto"});
  job.arguments = std::move(words);
  return job;
}

struct NvlinkRun {
  std::string ptx;
  std::string said;
};

NvlinkRun Nvlink(Arch target, const Words& flags, const Words& files) {
  const Tools& tools = TheTools();
  const std::string out = tools.directory.File("nvlink.ptx");
  fs::remove(out);
  Words words = {tools.toolkit->nvlink,
                 "-arch=" + target.Name(),
                 "-lto",
                 "-nvvmpath=" + tools.place,
                 "-emit-ptx",
                 "-o",
                 out};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), files.begin(), files.end());
  const ProcessResult run = RunProcess(words, std::chrono::seconds(20));
  return {ReadText(out).value_or(""), run.out + run.err};
}

// Options of nvlink and the words that it then passes to libNVVM besides -arch and -link-lto, for
// inputs that say nothing of host code.
struct Mode {
  Words flags;
  Words words;
};

bool HasDebug(const Words& flags) {
  return std::find(flags.begin(), flags.end(), "-g") != flags.end();
}

const std::vector<Mode>& Modes() {
  static const std::vector<Mode> modes = {
      {{}, {"-has-global-host-info"}},
      {{"-ignore-host-info"}, {}},
      {{"-r"}, {"--device-c", "--force-device-c"}},
      {{"-r", "-g"}, {"--device-c", "--force-device-c", "-g"}},
      {{"-g", "-ignore-host-info"}, {"-g"}},
      {{"-maxrregcount", "32", "-ignore-host-info"}, {"-maxreg=32"}},
      {{"-Ofc", "max", "-ignore-host-info"}, {"-Ofast-compile=max"}},
      {{"-split-compile", "2", "-ignore-host-info"}, {"-split-compile=2"}},
      {{"-kernels-used", "k,zz"},
       {"-has-global-host-info", "-host-ref-ek=*k*,*zz*", "-host-ref-ik=*k*,*zz*"}},
      {{"-kernels-used", "zz"},
       {"-has-global-host-info", "-host-ref-ek=*zz*", "-host-ref-ik=*zz*"}},
      {{"-Xnvvm", "-ftz=1", "-ignore-host-info"},
       {"-ftz=1", "-prec-div=1", "-prec-sqrt=1", "-fma=1"}},
      {{"-Xnvvm", "-opt=0", "-ignore-host-info"},
       {"-opt=0", "-ftz=0", "-prec-div=1", "-prec-sqrt=1", "-fma=1"}},
      {{"-Xnvvm", "-Xopt,-disable-inlining", "-ignore-host-info"},
       {"-Xopt", "-disable-inlining", "-ftz=0", "-prec-div=1", "-prec-sqrt=1", "-fma=1"}},
  };
  return modes;
}

TEST_CASE("Both compilers give nvlink's PTX for every target and mode", "[lto_compiler][live]") {
  if (!TheTools().complete()) DEVLINK_SKIP("no toolkit with libNVVM and libnvJitLink");
  const Tools& tools = TheTools();
  const bool is_13_0 = tools.toolkit->release == "13.0";
  int compared = 0;
  for (const Arch target : kTargets) {
    const std::vector<Module> modules = {MakeModule("kernel", target, "k", "f", ""),
                                         MakeModule("function", target, "k2", "", "f")};
    for (const Mode& mode : Modes()) {
      // libNVVM for sm_100 and later fails where no kernel is left.
      if (target.number >= 100 && mode.flags == Words{"-kernels-used", "zz"}) continue;
      // nvlink 13.2 and later keep the suffix, nvlink 13.5 adds -opt=0 to -g.
      if (!is_13_0 && (target.variant != 0 || HasDebug(mode.flags))) continue;
      const NvlinkRun expected =
          Nvlink(target, mode.flags, {modules[0].fatbin_path, modules[1].fatbin_path});
      CAPTURE(target.Name(), Join(mode.flags, " "), expected.said);
      REQUIRE_FALSE(expected.ptx.empty());
      const LtoOutput direct = tools.nvvm->Compile(JobOf(modules, target, mode.words, false));
      const LtoOutput plain = tools.jit->Compile(JobOf(modules, target, mode.words, false));
      const LtoOutput hidden = tools.jit->Compile(JobOf(modules, target, mode.words, true));
      for (const LtoOutput* output : {&direct, &plain, &hidden}) {
        CAPTURE(output->backend_name, Rendered(output->diagnostics));
        REQUIRE(output->status.ok());
        CHECK(output->pieces == Words{expected.ptx});
        CHECK(output->whole_program == (mode.words.empty() || mode.words[0] != "--device-c"));
      }
      ++compared;
    }
  }
  CHECK(compared == (is_13_0 ? 76 : 53));
}

TEST_CASE("Both compilers agree on what is a whole program", "[lto_compiler][live]") {
  if (!TheTools().complete()) DEVLINK_SKIP("no toolkit with libNVVM and libnvJitLink");
  const Tools& tools = TheTools();
  for (const Arch target : {kSm90, Arch{100, 0}}) {
    const Module kernel = MakeModule("kernel", target, "k", "f", "");
    const Module function = MakeModule("function", target, "", "", "f");
    const Module alone = MakeModule("alone", target, "k3", "", "");
    const Module runtime = MakeModule("runtime", target, "k4", "__cudaCDP2LaunchDeviceV2", "");
    const Module printing = MakeModule("printing", target, "k5", "vprintf", "");
    struct Row {
      std::vector<Module> modules;
      bool whole;
    };
    for (const Row& row :
         {Row{{kernel, function}, true}, Row{{kernel}, false}, Row{{function}, false},
          Row{{alone}, true}, Row{{runtime}, false}, Row{{alone, runtime}, false},
          Row{{alone, function}, true}, Row{{printing}, true}}) {
      for (const Words& more : {Words{},
                                Words{"-has-global-host-info",
                                      target.number < 100 ? "-host-ref-ek=zz" : "-host-ref-ek=k*"},
                                Words{"-g"}}) {
        Words words = {"--device-c"};
        words.insert(words.end(), more.begin(), more.end());
        const LtoOutput direct = tools.nvvm->Compile(JobOf(row.modules, target, words, false));
        const LtoOutput hidden = tools.jit->Compile(JobOf(row.modules, target, words, true));
        CAPTURE(target.Name(), row.modules.front().name, row.modules.size(), Join(words, " "));
        CAPTURE(Rendered(direct.diagnostics), Rendered(hidden.diagnostics));
        REQUIRE(direct.status.ok());
        REQUIRE(hidden.status.ok());
        CHECK(direct.whole_program == row.whole);
        CHECK(hidden.whole_program == row.whole);
        CHECK(direct.pieces == hidden.pieces);
      }
    }
  }
}

TEST_CASE("Plain and protected modules go together", "[lto_compiler][live]") {
  if (!TheTools().complete()) DEVLINK_SKIP("no toolkit with libNVVM and libnvJitLink");
  const Tools& tools = TheTools();
  const std::vector<Module> modules = {MakeModule("kernel", kSm90, "k", "f", ""),
                                       MakeModule("function", kSm90, "", "", "f")};
  LtoJob job = JobOf(modules, kSm90, {}, false);
  const LtoOutput expected = tools.nvvm->Compile(job);
  job.modules[1] = {"function", modules[1].fatbin, true};
  CHECK(tools.jit->Compile(job).pieces == expected.pieces);
  std::swap(job.modules[0], job.modules[1]);
  const LtoOutput swapped = tools.jit->Compile(job);
  CAPTURE(Rendered(swapped.diagnostics));
  CHECK(swapped.status.ok());

  const LtoOutput refused = tools.nvvm->Compile(job);
  CHECK(absl::IsFailedPrecondition(refused.status));
  CHECK(Rendered(refused.diagnostics, false) == "nvlink fatal   : elfLink nvvm error\n");
  CHECK(refused.diagnostics.at(0).input == "function");
  CHECK(Rendered(refused.diagnostics).find("-Xfatbin --compress=false") != std::string::npos);
}

// nvlink compares no architectures once its choice of code is made; libnvJitLink does.
TEST_CASE("Code for another architecture than the target's is compiled", "[lto_compiler][live]") {
  if (!TheTools().complete()) DEVLINK_SKIP("no toolkit with libNVVM and libnvJitLink");
  const Tools& tools = TheTools();
  for (const Arch of : {Arch{75, 0}, Arch{90, 0}, Arch{90, 'a'}}) {
    const std::vector<Module> modules = {MakeModule("alone", of, "k", "", "")};
    for (const Arch target : {Arch{75, 0}, Arch{90, 0}, Arch{120, 0}}) {
      const LtoOutput direct = tools.nvvm->Compile(JobOf(modules, target, {}, false));
      CAPTURE(of.Name(), target.Name());
      REQUIRE(direct.status.ok());
      for (const bool as_protected : {false, true}) {
        // Nothing chooses such a member of a fat binary.
        if (as_protected && of.number > target.number) continue;
        const LtoOutput output = tools.jit->Compile(JobOf(modules, target, {}, as_protected));
        CAPTURE(as_protected, Rendered(output.diagnostics));
        CHECK(output.pieces == direct.pieces);
      }
    }
  }
}

// The suffix that nvlink drops is kept where the words keep it.
TEST_CASE("The words' architecture counts", "[lto_compiler][live]") {
  if (!TheTools().complete()) DEVLINK_SKIP("no toolkit with libNVVM and libnvJitLink");
  const Tools& tools = TheTools();
  const Arch target = {90, 'a'};
  const std::vector<Module> modules = {MakeModule("alone", target, "k", "", "")};
  for (const char* arch : {"90", "90a"}) {
    LtoJob job = JobOf(modules, target, {}, false);
    job.arguments[0] = Cat("-arch=compute_", arch);
    const LtoOutput direct = tools.nvvm->Compile(job);
    job.modules[0] = {"alone", modules[0].fatbin, true};
    const LtoOutput hidden = tools.jit->Compile(job);
    REQUIRE(direct.status.ok());
    CHECK(direct.pieces.front().find(Cat(".target sm_", arch, "\n")) != std::string::npos);
    CHECK(direct.pieces == hidden.pieces);
  }
}

TEST_CASE("Extended split compilation gives the same pieces", "[lto_compiler][live]") {
  if (!TheTools().complete()) DEVLINK_SKIP("no toolkit with libNVVM and libnvJitLink");
  const Tools& tools = TheTools();
  std::vector<Module> modules;
  for (int i = 0; i < 40; ++i) {
    modules.push_back(MakeModule(Cat("m", i), kSm90, Cat("k", i), "", Cat("f", i)));
  }
  for (const Words& words :
       {Words{"-split-compile-extended=2"}, Words{"-split-compile-extended=2", "--device-c"}}) {
    const LtoOutput direct = tools.nvvm->Compile(JobOf(modules, kSm90, words, false));
    const LtoOutput hidden = tools.jit->Compile(JobOf(modules, kSm90, words, true));
    REQUIRE(direct.status.ok());
    REQUIRE(hidden.status.ok());
    CHECK(direct.pieces.size() > 1);
    CHECK(std::is_sorted(direct.pieces.begin(), direct.pieces.end()));
    CHECK(direct.pieces == hidden.pieces);
    // Not the order in which libNVVM hands them out.
    CHECK(tools.nvvm->Compile(JobOf(modules, kSm90, words, false)).pieces == direct.pieces);
    CHECK_FALSE(direct.whole_program);
    CHECK_FALSE(hidden.whole_program);
  }
}

TEST_CASE("What is wrong is said as nvlink says it", "[lto_compiler][live]") {
  if (!TheTools().complete()) DEVLINK_SKIP("no toolkit with libNVVM and libnvJitLink");
  const Tools& tools = TheTools();
  Module module = MakeModule("twice", kSm90, "k", "", "");
  Module other = module;
  module.name = module.fatbin_path;
  other.name = tools.directory.File("other.fatbin");
  other.fatbin_path = other.name;
  REQUIRE(WriteBytes(other.name, other.fatbin));
  struct Row {
    std::vector<Module> modules;
    Words flags;
    Words words;
  };
  for (const Row& row :
       {Row{{module, other}, {"-ignore-host-info"}, {}},
        Row{{module},
            {"-ignore-host-info", "-Xnvvm", "-foo"},
            {"-foo", "-ftz=0", "-prec-div=1", "-prec-sqrt=1", "-fma=1"}},
        Row{{module}, {"-ignore-host-info", "-Xnvvm", "-opt=1,-opt=2"}, {"-opt=1", "-opt=2"}}}) {
    Words files;
    for (const Module& m : row.modules) files.push_back(m.fatbin_path);
    const NvlinkRun expected = Nvlink(kSm90, row.flags, files);
    for (const bool hidden : {false, true}) {
      const LtoOutput output =
          (hidden ? tools.jit : tools.nvvm)->Compile(JobOf(row.modules, kSm90, row.words, hidden));
      CAPTURE(hidden);
      CHECK(absl::IsInvalidArgument(output.status));
      CHECK(Rendered(output.diagnostics, false) == expected.said);
    }
  }
}

TEST_CASE("Damaged protected code is refused by its name", "[lto_compiler][live][damage]") {
  if (!TheTools().complete()) DEVLINK_SKIP("no toolkit with libNVVM and libnvJitLink");
  const Tools& tools = TheTools();
  const std::vector<Module> modules = {MakeModule("alone", kSm90, "k", "", "")};
  const Module& module = modules.front();
  const auto compile = [&](const Bytes& bytes) {
    LtoJob job = JobOf(modules, kSm90, {}, true);
    job.modules[0].bytes = bytes;
    return tools.jit->Compile(job);
  };
  for (std::size_t size = 0; size < module.fatbin.size(); size += 7) {
    const Bytes cut(module.fatbin.begin(),
                    module.fatbin.begin() + static_cast<std::ptrdiff_t>(size));
    const LtoOutput output = compile(cut);
    CHECK_FALSE(output.status.ok());
    REQUIRE_FALSE(output.diagnostics.empty());
    CHECK(Message(output.status).find("'alone'") != std::string::npos);
  }
  // A later release's.
  Bytes newer = module.plain;
  newer.at(5) += 8;
  LtoJob later = JobOf(modules, kSm90, {}, false);
  later.modules[0].bytes = newer;
  for (const LtoCompiler* compiler : {tools.nvvm.get(), tools.jit.get()}) {
    const LtoOutput output = compiler->Compile(later);
    CHECK(absl::IsInvalidArgument(output.status));
    CHECK(Rendered(output.diagnostics, false) == "nvlink fatal   : elfLink nvvm error\n");
    CHECK_FALSE(output.diagnostics.at(0).notes.empty());
  }
  const Bytes two = [&] {  // the same member twice
    Bytes out = module.fatbin;
    out.insert(out.end(), module.fatbin.begin() + 16, module.fatbin.end());
    const std::uint64_t size = out.size() - 16;
    std::memcpy(out.data() + 8, &size, sizeof(size));
    return out;
  }();
  CHECK(Message(compile(two).status).find("LTO IR alone") != std::string::npos);
}

TEST_CASE("libnvJitLink compiles side by side as it does alone", "[lto_compiler][live]") {
  if (!TheTools().complete()) DEVLINK_SKIP("no toolkit with libNVVM and libnvJitLink");
  const Tools& tools = TheTools();
  const std::vector<Module> modules = {MakeModule("kernel", kSm90, "k", "f", ""),
                                       MakeModule("function", kSm90, "", "", "f")};
  const std::vector<Module> first = {modules[0]};
  const std::vector<LtoJob> jobs = {
      JobOf(modules, kSm90, {}, true),
      JobOf(modules, kSm90, {"--device-c"}, true),
      JobOf(modules, kSm90, {"--device-c", "--force-device-c"}, true),
      JobOf(modules, kSm90, {"-ftz=2"}, true),
      JobOf(first, kSm90, {"--device-c"}, false),
  };
  std::vector<LtoOutput> alone;
  for (const LtoJob& job : jobs) alone.push_back(tools.jit->Compile(job));
  std::vector<int> wrong(6, 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t k = 0; k < 20; ++k) {
        const std::size_t which = (i + k) % jobs.size();
        const LtoOutput output = tools.jit->Compile(jobs[which]);
        wrong[i] += static_cast<int>(output.pieces != alone[which].pieces ||
                                     output.whole_program != alone[which].whole_program ||
                                     output.status != alone[which].status);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(6, 0));
}

// --- objects as nvcc makes them ------------------------------------------------------------------

constexpr const char* kMain = R"(#include <cstdio>
extern __device__ int helper(int);
extern __device__ float ratio(float, float);
__device__ int counter = 3;
__constant__ float factors[4];
static __device__ int hidden;
__global__ void first(int* p) { p[threadIdx.x] = helper(p[threadIdx.x]) + counter; }
__global__ void second(float* p) { p[0] = ratio(p[1], p[2]) * p[3] + factors[1]; hidden = 1; }
static __global__ void third(int* p) { p[0] = hidden; printf("%d\n", p[1]); }
int main() { third<<<1, 1>>>(nullptr); }
)";
constexpr const char* kHelpers = R"(
__device__ int helper(int x) { return x * 3 + 1; }
__device__ float ratio(float a, float b) { return sqrtf(a) / b; }
__global__ void unused(int* p) { p[1] = helper(2); }
)";
constexpr const char* kLaunches = R"(
__global__ void child(int* p) { p[threadIdx.x] = 1; }
__global__ void parent(int* p) { child<<<1, 32>>>(p); }
)";

struct HostCode {
  std::string path;
  Bytes member;  // a fat binary with the LTO IR for sm_90 alone
};

std::optional<HostCode> CompileHost(const std::string& name, const char* text) {
  const Tools& tools = TheTools();
  const std::string source = tools.directory.File(name + ".cu");
  HostCode out{tools.directory.File(name + ".o"), {}};
  const bool made =
      WriteText(source, text) &&
      RunProcess({tools.toolkit->nvcc, "-gencode", "arch=compute_90,code=lto_90", "-gencode",
                  "arch=compute_90,code=sm_90", "-rdc=true", "-c", source, "-o", out.path})
          .ok();
  const auto bytes = ReadBytes(out.path);
  if (!made || !bytes) return std::nullopt;
  const auto object = internal::ReadHostObject(*bytes);
  if (!object.ok() || object->fatbins.size() != 1) return std::nullopt;
  const auto fatbin = Fatbin::Parse(object->fatbins.front());
  if (!fatbin.ok()) return std::nullopt;
  const CodeChoice choice = ChooseCode(fatbin->Candidates(), kSm90, {.lto = true});
  if (!choice.index) return std::nullopt;
  const FatbinMember& member = fatbin->members()[*choice.index];
  if (!member.is_obfuscated) return std::nullopt;
  auto isolated = fatbin->Isolate(member);
  if (!isolated.ok()) return std::nullopt;
  out.member = *std::move(isolated);
  return out;
}

TEST_CASE("Objects of a plain nvcc -dlto give nvlink's PTX", "[lto_compiler][live]") {
  if (!TheTools().complete()) DEVLINK_SKIP("no toolkit with libNVVM and libnvJitLink");
  const Tools& tools = TheTools();
  std::optional<HostCode> main;
  std::optional<HostCode> helpers;
  std::optional<HostCode> launches;
  std::thread other([&] { helpers = CompileHost("helpers", kHelpers); });
  main = CompileHost("main", kMain);
  other.join();
  launches = CompileHost("launches", kLaunches);
  REQUIRE(main);
  REQUIRE(helpers);
  REQUIRE(launches);
  struct Row {
    std::vector<const HostCode*> code;
    Words flags;
    Words words;
    bool whole;
  };
  const Words runtime = {"-L" + tools.place + "/lib64", "-lcudadevrt"};
  const Row rows[] = {
      {{&*main, &*helpers}, {"-ignore-host-info"}, {}, true},
      {{&*main, &*helpers}, {"-r"}, {"--device-c", "--force-device-c"}, false},
      {{&*main, &*helpers},
       {"-kernels-used", "first", "-variables-used", "counter"},
       {"-has-global-host-info", "-host-ref-ek=*first*", "-host-ref-ik=*first*",
        "-host-ref-ec=*counter*", "-host-ref-ic=*counter*", "-host-ref-eg=*counter*",
        "-host-ref-ig=*counter*"},
       true},
      {{&*main, &*helpers}, {runtime[0], runtime[1], "-ignore-host-info"}, {"--device-c"}, true},
      {{&*main}, {"-r"}, {"--device-c", "--force-device-c"}, false},
      {{&*launches}, {runtime[0], runtime[1], "-ignore-host-info"}, {"--device-c"}, false},
      {{&*main, &*helpers, &*launches},
       {runtime[0], runtime[1], "-ignore-host-info", "-g"},
       {"--device-c", "-g"},
       false},
  };
  for (const Row& row : rows) {
    if (tools.toolkit->release != "13.0" && HasDebug(row.flags)) continue;
    Words files;
    LtoJob job;
    job.target = kSm90;
    job.arguments = {"-arch=compute_90", "-link-lto"};
    job.arguments.insert(job.arguments.end(), row.words.begin(), row.words.end());
    for (const HostCode* code : row.code) {
      files.push_back(code->path);
      job.modules.push_back({code->path, code->member, true});
    }
    const NvlinkRun expected = Nvlink(kSm90, row.flags, files);
    const LtoOutput output = tools.jit->Compile(job);
    CAPTURE(Join(row.flags, " "), files.size(), expected.said, Rendered(output.diagnostics));
    REQUIRE(output.status.ok());
    REQUIRE_FALSE(expected.ptx.empty());
    CHECK(output.pieces == Words{expected.ptx});
    CHECK(output.whole_program == row.whole);
  }
}

// --- the choice ----------------------------------------------------------------------------------

TEST_CASE("What is missing is said", "[lto_compiler]") {
  const auto why = [](const LtoBackendOptions& options) {
    const auto compiler = CreateLtoCompiler(options);
    CHECK(absl::IsNotFound(compiler.status()));
    return Message(compiler.status());
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(why({}), "no libnvvm.so was named, and no libnvJitLink.so.13"));
  CHECK(why({.backend = LtoBackend::kNvvm}) == "no libnvvm.so was named");
  CHECK(why({.backend = LtoBackend::kNvJitLink}) == "no libnvJitLink.so.13 was named");
  CHECK(has(why({.needs_protected = true}), "a module needs it"));
  CHECK(has(why({.nvvm_path = "/no/such"}), "'/no/such'"));
  CHECK(
      has(why({.nvvm_path = "/no/such", .nvjitlink_path = "/no/such"}), "no libnvvm.so was found"));
  CHECK(has(why({.nvjitlink_path = "/no/such"}), "no library '/no/such'"));
}

TEST_CASE("The compiler is chosen by what the link needs", "[lto_compiler][live]") {
  if (!TheTools().complete()) DEVLINK_SKIP("no toolkit with libNVVM and libnvJitLink");
  const auto chosen = [](const LtoBackendOptions& options) {
    const auto compiler = CreateLtoCompiler(options);
    return compiler.ok() ? std::string((*compiler)->name()) : Message(compiler.status());
  };
  const LtoBackendOptions both = {.nvvm_path = NvvmPlace(), .nvjitlink_path = NvJitLinkPath()};
  LtoBackendOptions options = both;
  CHECK(chosen(options) == "libNVVM");
  options.needs_protected = true;
  CHECK(chosen(options) == "libnvJitLink");
  options = both;
  options.nvvm_path = "/no/such";
  CHECK(chosen(options) == "libnvJitLink");
  options = both;
  options.backend = LtoBackend::kNvJitLink;
  CHECK(chosen(options) == "libnvJitLink");
  CHECK(TheTools().jit->takes_protected());
  CHECK_FALSE(TheTools().nvvm->takes_protected());
  CHECK_FALSE(TheTools().jit->version().empty());
}

}  // namespace
}  // namespace devlink::testing
