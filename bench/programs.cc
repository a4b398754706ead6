// SPDX-License-Identifier: Apache-2.0
#include "programs.h"

#include <algorithm>
#include <utility>

namespace devlink::bench {

namespace {

std::string Number(int n) { return std::to_string(n); }

// Writes functions of one kind: `int F(int)` and `void K(int*)`. None is inlined by ptxas, which
// leaves functions that other modules can see alone when it compiles for a later link.
class PtxText {
 public:
  explicit PtxText(std::string_view target) {
    // Targets of three digits came with later versions of PTX.
    const bool is_new = target.size() > 5 && target[5] >= '0' && target[5] <= '9';
    out_ = std::string(".version ") + (is_new ? "8.8" : "8.0") + "\n.target " +
           std::string(target) + "\n.address_size 64\n";
  }

  void Line(std::string_view line) { out_.append(line).push_back('\n'); }

  void Declare(const std::string& function) {
    Line(".extern .func (.param .b32 r) " + function + " (.param .b32 a);");
  }

  // Inside a body the running value is %r1.
  void BeginFunction(const std::string& name, std::string_view linkage) {
    Line(std::string(linkage) + " .func (.param .b32 r) " + name + " (.param .b32 a)\n{");
    Registers();
    Line("ld.param.u32 %r1, [a];");
  }
  void EndFunction() { Line("st.param.b32 [r], %r1;\nret;\n}"); }

  void BeginKernel(const std::string& name) {
    Line(".visible .entry " + name + " (.param .u64 p)\n{");
    Registers();
    Line("ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nld.global.u32 %r1, [%rd2];");
  }
  void EndKernel() { Line("st.global.u32 [%rd2], %r1;\nret;\n}"); }

  // Adds the function's result, so that the order of calls is fixed and none can be left out.
  void Call(const std::string& function) {
    Line("{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r1;\ncall.uni (y), " + function +
         ", (x);\nld.param.b32 %r2, [y];\n}\nxor.b32 %r1, %r1, %r2;");
  }
  void Compute(int factor) {
    Line("mad.lo.s32 %r1, %r1, " + Number(factor) + ", " + Number(factor + 1) + ";");
  }
  void AddGlobal(const std::string& name) {
    Line("ld.global.u32 %r2, [" + name + "];\nadd.s32 %r1, %r1, %r2;\nst.global.u32 [" + name +
         "], %r1;");
  }
  void AddShared(const std::string& name) {
    Line("st.shared.u32 [" + name + "], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [" + name +
         "+8];\nadd.s32 %r1, %r1, %r2;");
  }

  std::string Take() { return std::move(out_); }

 private:
  void Registers() { Line(".reg .b32 %r<8>;\n.reg .b64 %rd<8>;"); }

  std::string out_;
};

std::string Function(int module, int index) { return "f" + Number(module) + "_" + Number(index); }

// One kernel and nine device functions, which call each other in a row; the seventh goes on with
// the last two of the module before. Flat: that is all, so that a kernel reaches twenty functions,
// however many modules there are. Deep: the first two call their like in the module before instead,
// so that a kernel reaches two functions of every module before its own.
std::string PlainModule(int module, std::string_view target, bool deep) {
  constexpr int kFunctions = 9;
  constexpr int kChains = 2;
  constexpr int kLastInRow = 7;  // the two others are what the next module calls
  const bool has_shared = module % 4 == 0;
  const bool prints = module % 8 == 0;
  const std::string id = Number(module);
  const auto before = [module](int distance) { return std::max(0, module - distance); };
  PtxText out(target);
  for (int other = before(2); other < module; ++other) {
    for (int i = 1; i <= kFunctions; ++i) {
      if (i > kLastInRow || (deep && i <= kChains)) out.Declare(Function(other, i));
    }
  }
  out.Line(".visible .global .align 4 .u32 g" + id + " = " + Number(module + 1) + ";");
  out.Line(".visible .global .align 4 .b8 z" + id + "[64];");
  if (has_shared) out.Line(".shared .align 4 .b8 s" + id + "[64];");
  if (prints) {
    out.Line(".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);");
    out.Line(".global .align 1 .b8 t" + id + "[4] = {37, 100, 10, 0};");
  }
  for (int i = kFunctions; i >= 1; --i) {
    out.BeginFunction(Function(module, i), ".visible");
    out.Compute(module + i);
    if (i == 2) out.AddGlobal("g" + id);
    if (i == 5) out.AddGlobal("z" + id);
    if (i == 8 && has_shared) out.AddShared("s" + id);
    if (deep && i <= kChains) {
      if (module > 0) out.Call(Function(module - 1, i));
    } else if (i < kLastInRow || (i == kLastInRow && module == 0)) {
      out.Call(Function(module, i + 1));
    } else if (i == kLastInRow) {
      out.Call(Function(module - 1, kLastInRow + 1));
      out.Call(Function(module - 1, kFunctions));
    }
    out.EndFunction();
  }
  out.BeginKernel("k" + id);
  out.Call(Function(module, 1));
  if (deep) {
    out.Call(Function(before(1), kChains));
    out.Call(Function(module, kChains + 1));
  }
  for (int other = before(2); other <= module; ++other) out.Call(Function(other, kLastInRow + 1));
  if (prints) {
    out.Line("mov.u64 %rd3, t" + id + ";\ncvta.global.u64 %rd4, %rd3;\nmov.u64 %rd5, 0;");
    out.Line("{\n.param .b32 n;\n.param .b64 f;\n.param .b64 v;\nst.param.b64 [f], %rd4;");
    out.Line("st.param.b64 [v], %rd5;\ncall.uni (n), vprintf, (f, v);\n}");
  }
  out.EndKernel();
  return out.Take();
}

// Level i calls levels i-1 and i-2: as many paths as the Fibonacci number of the depth.
std::string FibonacciModule(int level, std::string_view target) {
  PtxText out(target);
  for (int callee = std::max(0, level - 2); callee < level; ++callee) {
    out.Declare("fib" + Number(callee));
  }
  const bool top = level == 46;
  if (top) {
    out.BeginKernel("k");
  } else {
    out.BeginFunction("fib" + Number(level), ".visible");
  }
  out.Compute(level + 3);
  for (int callee = std::max(0, level - 2); callee < level; ++callee) {
    out.Call("fib" + Number(callee));
  }
  top ? out.EndKernel() : out.EndFunction();
  return out.Take();
}

// Fifty links of a chain in which every function calls the one before.
constexpr int kLinksPerModule = 50;

void AddChainLink(PtxText& out, int link, bool shared) {
  const std::string id = Number(link);
  out.BeginFunction("c" + id, ".visible");
  out.Compute(link + 3);
  if (shared) out.AddShared("s" + id);
  if (link > 0) out.Call("c" + Number(link - 1));
  out.EndFunction();
}

// Forty modules of the chain, then forty of kernels that all call its end.
std::string ChainModule(int module, std::string_view target) {
  constexpr int kChainModules = 40;
  constexpr int kEnd = kChainModules * kLinksPerModule - 1;
  PtxText out(target);
  const int first = module * kLinksPerModule;
  if (module < kChainModules) {
    if (first > 0) out.Declare("c" + Number(first - 1));
    for (int i = first; i < first + kLinksPerModule; ++i) AddChainLink(out, i, false);
    return out.Take();
  }
  out.Declare("c" + Number(kEnd));
  for (int i = first - kEnd - 1; i < first - kEnd - 1 + kLinksPerModule; ++i) {
    out.BeginKernel("k" + Number(i));
    out.Compute(i + 3);
    out.Call("c" + Number(kEnd));
    out.EndKernel();
  }
  return out.Take();
}

// Kernel i calls link i; every kernel and every link has a shared variable of its own.
std::string SharedModule(int module, std::string_view target) {
  PtxText out(target);
  const int first = module * kLinksPerModule;
  const int end = first + kLinksPerModule;
  if (first > 0) out.Declare("c" + Number(first - 1));
  for (int i = first; i < end; ++i) {
    out.Line(".visible .shared .align 4 .b8 s" + Number(i) + "[16];");
    out.Line(".visible .shared .align 4 .b8 t" + Number(i) + "[16];");
  }
  for (int i = first; i < end; ++i) AddChainLink(out, i, true);
  for (int i = first; i < end; ++i) {
    out.BeginKernel("k" + Number(i));
    out.AddShared("t" + Number(i));
    out.Call("c" + Number(i));
    out.EndKernel();
  }
  return out.Take();
}

// What templates in a header leave in every file that uses them: the same weak functions.
std::string TemplateModule(int module, std::string_view target) {
  constexpr int kTemplates = 300;
  const auto name = [](int i) { return "_Z9transformILi" + Number(i) + "EEii"; };
  PtxText out(target);
  for (int i = 0; i < kTemplates; ++i) {
    out.BeginFunction(name(i), ".weak");
    out.Compute(i + 3);
    if (i % 10 != 0) out.Call(name(i - 1));
    out.EndFunction();
  }
  out.BeginKernel("k" + Number(module));
  for (int i = 9; i < kTemplates; i += 10) out.Call(name(i));
  out.Compute(module + 3);
  out.EndKernel();
  return out.Take();
}

}  // namespace

const std::vector<ProgramClass>& ProgramClasses() {
  const std::string kernels = "kernels.cu";
  static const std::vector<ProgramClass> classes = {
      {"1", "deep", 1},
      {"10", "deep", 10},
      {"100", "deep", 100},
      {"1000", "deep", 1000},
      {"4000", "deep", 4000, /*slow_for_nvlink=*/true},
      {"flat1000", "flat", 1000},
      {"flat4000", "flat", 4000},
      {.name = "fib46", .family = "fib", .modules = 47, .slow_for_library = true},
      {"chain2000", "chain", 80, /*slow_for_nvlink=*/true},
      {"shared", "shared", 10},
      {"templates", "templ", 200},
      {"objects", "objects", 16, false, ModuleKind::kObject, kernels},
      {"archive", "objects", 16, false, ModuleKind::kArchive, kernels},
      {"debug", "debug", 16, false, ModuleKind::kDebug, kernels},
      {"sm_100", "flat", 100, false, ModuleKind::kCubin, "", "sm_100"},
      {"ptx64", "kernels", 64, false, ModuleKind::kPtx, kernels, "sm_90"},
      {"lto", "lto", 8, false, ModuleKind::kLtoObject, kernels, "sm_90", {"-lto"}},
      {.name = "split",
       .family = "lto",
       .modules = 8,
       .kind = ModuleKind::kLtoObject,
       .source = kernels,
       .only_target = "sm_90",
       .options = {"-lto", "-split-compile-extended=2"},
       .varies = true},
      {"lto50", "lto50", 50, false, ModuleKind::kLtoIr, kernels, "sm_90", {"-lto"}},
      {.name = "parts",
       .family = "lto50",
       .modules = 50,
       .kind = ModuleKind::kLtoIr,
       .source = kernels,
       .only_target = "sm_90",
       .options = {"-lto"},
       .own_options = {"--lto-partitions=8"}},
  };
  return classes;
}

std::string ModuleText(std::string_view family, int module, std::string_view target) {
  if (family == "fib") return FibonacciModule(module, target);
  if (family == "chain") return ChainModule(module, target);
  if (family == "shared") return SharedModule(module, target);
  if (family == "templ") return TemplateModule(module, target);
  return PlainModule(module, target, family == "deep");
}

}  // namespace devlink::bench
