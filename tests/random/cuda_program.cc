// SPDX-License-Identifier: Apache-2.0
#include "random/cuda_program.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "random/prng.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

enum class Kind { kKernel, kTemplateKernel, kDevice, kTemplate, kStatic, kInline };
enum class Space { kGlobal, kConstant, kManaged, kShared };

struct Function {
  Kind kind = Kind::kDevice;
  int file = 0;  // where a device function, kernel or static function stands
  std::string name;
  std::uint64_t seed = 0;
};

struct Variable {
  Space space = Space::kGlobal;
  std::string name;
  std::string type;
  int count = 1;
  int file = 0;
  bool is_static = false;
  bool has_init = false;
};

struct Class {
  std::string name;
  int overrides = 0;  // virtual functions that the derived class replaces
  bool has_destructor = false;
};

// One program: what it consists of, and the text of its files.
class CudaWriter {
 public:
  CudaWriter(std::uint64_t seed, ProgramTarget target, const GeneratorLimits& limits)
      : random_(seed), target_(target), limits_(limits) {}

  RandomProgram Write() {
    Plan();
    RandomProgram program;
    std::string_view debug_flag;
    if (Has(kDebugInfo) && random_.Chance(20)) {
      debug_flag = random_.Pick<std::string_view>({"-lineinfo", "-G", "-lineinfo"});
      if (random_.Chance(40)) program.link_flags.emplace_back("-g");
    }
    const bool fast_math = random_.Chance(10);
    for (int f = 0; f < files_; ++f) {
      SourceFile source;
      source.name = Cat("f", f, ".cu");
      source.text = File(f);
      if (!debug_flag.empty() && random_.Chance(80)) source.flags.emplace_back(debug_flag);
      if (fast_math) source.flags.emplace_back("-use_fast_math");
      program.files.push_back(std::move(source));
    }
    random_.Shuffle(program.files);
    return program;
  }

 private:
  [[nodiscard]] bool Has(std::uint32_t feature) const { return (limits_.features & feature) != 0; }

  void Plan() {
    // nvcc takes a second per file, so programs stay smaller than those in PTX.
    files_ = random_.Range(1, std::min(limits_.max_files, 4));
    const int most = std::min(limits_.max_functions, 12);
    const int count = random_.Range(2, std::max(2, most));
    for (int i = 0; i < count; ++i) {
      Function f;
      f.kind = PickKind(i);
      f.file = random_.Range(0, files_ - 1);
      f.seed = random_.Next();
      f.name = Cat(f.kind == Kind::kKernel || f.kind == Kind::kTemplateKernel ? "kernel" : "fn", i);
      functions_.push_back(std::move(f));
    }
    const int variables = random_.Range(0, limits_.max_variables);
    for (int i = 0; i < variables; ++i) variables_.push_back(MakeVariable(i));
    const int classes = Has(kIndirect) ? random_.Range(0, 2) : 0;
    for (int i = 0; i < classes; ++i) {
      classes_.push_back({Cat("Shape", i), random_.Range(0, 2), random_.Chance(30)});
    }
  }

  Kind PickKind(int index) {
    if (index == 0) return Kind::kKernel;
    if (Has(kWeak) && random_.Chance(25)) {
      return random_.Pick({Kind::kTemplate, Kind::kTemplate, Kind::kInline, Kind::kTemplateKernel});
    }
    if (Has(kStatics) && random_.Chance(15)) return Kind::kStatic;
    return random_.Chance(30) ? Kind::kKernel : Kind::kDevice;
  }

  Variable MakeVariable(int index) {
    Variable v;
    std::vector<Space> spaces;
    if (Has(kGlobals)) spaces.insert(spaces.end(), 3, Space::kGlobal);
    if (Has(kConstants)) spaces.insert(spaces.end(), 2, Space::kConstant);
    if (Has(kManaged)) spaces.push_back(Space::kManaged);
    if (Has(kShared)) spaces.insert(spaces.end(), 2, Space::kShared);
    v.space = spaces.empty() ? Space::kGlobal : random_.Pick(spaces);
    v.type = random_.Pick<std::string_view>({"int", "double", "char", "short", "float", "float4"});
    v.name = Cat("var", index);
    v.count = random_.Pick({1, 3, 7, 16, 20});
    v.file = random_.Range(0, files_ - 1);
    v.has_init = v.space != Space::kShared && random_.Chance(50);
    // File-scope shared memory cannot be declared elsewhere in CUDA C++.
    v.is_static = v.space == Space::kShared || (Has(kStatics) && random_.Chance(25));
    return v;
  }

  // Templates and inline functions stand in every file.
  static bool IsEverywhere(const Function& f) {
    return f.kind == Kind::kTemplate || f.kind == Kind::kInline;
  }

  static std::string_view SpaceName(Space space) {
    switch (space) {
      case Space::kConstant:
        return "__constant__ ";
      case Space::kManaged:
        return "__managed__ ";
      case Space::kShared:
        return "__shared__ ";
      default:
        return "__device__ ";
    }
  }

  std::string File(int file) {
    file_ = file;
    std::string out =
        "#include <cassert>\n#include <cstdio>\n"
        "extern __shared__ int dynamic[];\n"
        "template <typename T> __device__ int AsInt(T v) { return (int)v; }\n"
        "__device__ inline int AsInt(float4 v) { return (int)v.y; }\n";
    out += Declarations();
    Append(out, Classes(), Tables());
    std::string shared;
    std::string own;
    for (const Function& f : functions_) {
      if (!IsEverywhere(f) && f.file != file) continue;
      (IsEverywhere(f) ? shared : own) += Definition(f);
    }
    Append(out, shared, own);
    return out;
  }

  std::string Declarations() {
    std::string out;
    for (const Variable& v : variables_) {
      if (v.file == file_) {
        Append(out, v.is_static && v.space != Space::kShared ? "static " : "", SpaceName(v.space),
               v.type, " ", v.name, "[", v.count, "]", v.has_init ? " = {}" : "", ";\n");
        if (v.has_init && v.type != "float4") {
          out.resize(out.size() - 3);
          Append(out, random_.Range(1, 100), "};\n");
        }
      } else if (!v.is_static) {
        Append(out, "extern ", SpaceName(v.space), v.type, " ", v.name, "[", v.count, "];\n");
      }
    }
    for (const Function& f : functions_) {
      switch (f.kind) {
        case Kind::kDevice:
          Append(out, "__device__ int ", f.name, "(int);\n");
          break;
        case Kind::kStatic:
          if (f.file == file_) Append(out, "static __device__ int ", f.name, "(int);\n");
          break;
        case Kind::kTemplate:
          Append(out, "template <int N> __device__ int ", f.name, "(int);\n");
          break;
        case Kind::kInline:
          Append(out, "inline __device__ int ", f.name, "(int);\n");
          break;
        default:
          break;
      }
    }
    return out;
  }

  std::string Definition(const Function& f) {
    Prng saved = random_;
    random_ = Prng(f.seed);
    const std::string body = Body(f);
    const int salt = random_.Range(2, 90);
    random_ = saved;
    switch (f.kind) {
      case Kind::kKernel:
        return Cat("__global__ void ", LaunchBounds(), f.name,
                   "(int* p) { int x = p[threadIdx.x];\n", body, "  p[x] = x; }\n");
      case Kind::kTemplateKernel:
        return Cat("template <typename F> __global__ void ", f.name,
                   "(int* p, F f) { int x = f(p[threadIdx.x]);\n", body, "  p[x] = x; }\n",
                   "void run_", f.name, "(int* p, int n) {\n  ", f.name,
                   "<<<1, 1>>>(p, [=] __device__(int v) { return v * n + ", salt, "; }); }\n");
      case Kind::kTemplate:
        return Cat(
            "template <int N> __device__ __noinline__ int ", f.name, "(int x) {",
            Has(kWeakObjects) ? " static __device__ int counter[N + 1]; counter[x & 1] += x;" : "",
            "\n", body, "  return x * N + ", salt, "; }\n");
      default:
        return Cat(f.kind == Kind::kStatic   ? "static "
                   : f.kind == Kind::kInline ? "inline "
                                             : "",
                   "__device__ __noinline__ int ", f.name, "(int x) {\n", body, "  return x * ",
                   salt, "; }\n");
    }
  }

  std::string LaunchBounds() {
    if (!Has(kLaunchBounds) || !random_.Chance(25)) return {};
    return random_.Chance(50) ? "__launch_bounds__(256) " : "__launch_bounds__(128, 4) ";
  }

  std::string Classes() {
    std::string out;
    for (const Class& c : classes_) {
      Append(out, "struct ", c.name,
             " { int v; __device__ virtual int First(int x) { return x + v; }\n"
             "  __device__ virtual int Second(int x) { return x * v; }",
             c.has_destructor ? " __device__ virtual ~" + c.name + "() { v = 0; }" : "", " };\n");
      Append(out, "struct ", c.name, "Child : ", c.name, " {");
      if (c.overrides > 0) out += " __device__ int First(int x) override { return x ^ v; }";
      if (c.overrides > 1) out += " __device__ int Second(int x) override { return v / (x + 1); }";
      out += " };\n";
    }
    return out;
  }

  // Tables of functions in all memories, in files that have functions to put there.
  std::string Tables() {
    table_ = false;
    std::vector<std::string> names;
    for (const Function& f : functions_) {
      if (f.kind == Kind::kDevice && random_.Chance(60)) names.push_back(f.name);
      if (f.kind == Kind::kTemplate && random_.Chance(40)) names.push_back(f.name + "<3>");
    }
    if (!Has(kIndirect) || names.empty() || random_.Chance(50)) return {};
    table_ = true;
    return Cat("typedef int (*Pointer)(int);\n", random_.Chance(50) ? "static " : "",
               random_.Chance(60) ? "__device__ " : "__constant__ ", "Pointer table", file_,
               "[] = {", Join(names, ", "), "};\n__device__ int through_table", file_,
               "(int x) { return table", file_, "[x & 1](x); }\n");
  }

  std::string Body(const Function& f) {
    std::string out;
    const int count = random_.Range(0, limits_.max_statements);
    for (int i = 0; i < count; ++i) Append(out, "  ", Statement(f, i), "\n");
    return out;
  }

  // A function that f can call: one with a larger number, so that there is no recursion.
  std::string Callee(const Function& f, bool for_pointer) {
    std::vector<std::string> names;
    for (const Function& g : functions_) {
      if (&g <= &f) continue;
      const bool local_only = g.kind == Kind::kStatic;
      // Templates and inline functions stand in every file and may name only what is known there.
      if (local_only && (IsEverywhere(f) || g.file != f.file)) continue;
      if (g.kind == Kind::kKernel || g.kind == Kind::kTemplateKernel) continue;
      if (g.kind == Kind::kTemplate) {
        names.push_back(Cat(g.name, "<", random_.Range(1, 3), ">"));
      } else if (!for_pointer || g.kind == Kind::kDevice) {
        names.push_back(g.name);
      }
    }
    return names.empty() ? std::string() : random_.Pick(names);
  }

  std::string VariableUse(const Function& f) {
    std::vector<const Variable*> usable;
    for (const Variable& v : variables_) {
      if (v.is_static && (IsEverywhere(f) || v.file != f.file)) continue;
      usable.push_back(&v);
    }
    if (usable.empty()) return "x ^= 5;";
    const Variable& v = *random_.Pick(usable);
    std::string out;
    const std::string element = Cat(v.name, "[(x + ", random_.Range(0, 3), ") % ", v.count, "]");
    if (v.space != Space::kConstant && v.type != "float4" && random_.Chance(50)) {
      Append(out, element, " = x; ");
    }
    if (v.space == Space::kShared) out += "__syncthreads(); ";
    if (random_.Chance(15)) return Cat(out, "x += (int)(long long)&", element, ";");
    return Cat(out, "x += AsInt(", element, ");");
  }

  std::string Statement(const Function& f, int number) {
    std::string text;
    const std::uint32_t choice = random_.Below(24);
    if (choice < 10) {
      text = Call(f);
    } else if (choice < 17) {
      text = Memory(f, std::to_string(number));
    } else {
      text = Computation();
    }
    return text.empty() ? Cat("x = x * ", random_.Range(3, 99), " + 1;") : text;
  }

  // The following give no text where the limits forbid what fell to them.

  std::string Call(const Function& f) {
    switch (random_.Below(10)) {
      case 0: {
        const std::string a = Callee(f, true);
        const std::string b = Callee(f, true);
        if (!Has(kIndirect) || a.empty()) return {};
        return Substitute("{ int (*q)(int) = (x & 1) ? $0 : $1; x += q(x); }", a, b);
      }
      case 1:
        if (!Has(kSyscalls)) return {};
        return Substitute("printf(\"value $0 %d\\n\", x);", random_.Range(0, 2));
      case 2:
        if (!Has(kSyscalls)) return {};
        return random_.Chance(50) ? "assert(x != 12345);"
                                  : "{ int* h = (int*)malloc(x); h[0] = x; x += h[1]; free(h); }";
      case 3:
        return VirtualCall(f);
      case 4:
        if (!Has(kRecursion) || f.kind != Kind::kDevice || !random_.Chance(40)) return {};
        return Cat("if (x > 100) x += ", f.name, "(x - 1);");
      case 5:
        if (!table_ || IsEverywhere(f)) return {};
        return Cat("x += through_table", file_, "(x);");
      default: {
        const std::string callee = Callee(f, false);
        return callee.empty() ? callee : Cat("x += ", callee, "(x);");
      }
    }
  }

  std::string Memory(const Function& f, const std::string& n) {
    switch (random_.Below(7)) {
      case 0:
        if (!Has(kShared)) return {};
        return Substitute(
            "{ __shared__ $0 s$1[$2]; s$1[x & 1] = x; __syncthreads(); x += (int)s$1[(x >> 2) & "
            "1]; }",
            random_.Pick<std::string_view>({"int", "double", "char", "float"}), n,
            random_.Pick({2, 5, 16, 16, 100}));
      case 1:
        return Has(kExternShared) ? "x += dynamic[x];" : "";
      case 2:
        if (!Has(kFrames)) return {};
        return Substitute("{ volatile int l[$0]; l[x & 1] = x; x += l[(x >> 1) & 1]; }",
                          random_.Pick({2, 8, 30, 300}));
      default:
        return VariableUse(f);
    }
  }

  std::string Computation() {
    switch (random_.Below(8)) {
      case 0:
        if (!Has(kDoubles)) return {};
        return Substitute("{ double y = x; y = y * 0.$0 + 1.$1 * y * y; x += (int)y; }",
                          random_.Range(1001, 9999), random_.Range(1001, 9999));
      case 1:
        if (!Has(kDoubles)) return {};
        return "x += (int)(sqrt((double)x) / (1.5 + x) + sin((double)x));";
      case 2:
        if (!Has(kJumpTables)) return {};
        return Substitute(
            "switch (x % 7) { case 0: x *= 3; break; case 1: x = __popc(x); break; case 2: x ^= $0;"
            " break; case 3: x = x / 9; break; case 4: x <<= x & 3; break; case 5: x = __clz(x);"
            " break; default: x -= 8; }",
            random_.Range(10, 99));
      case 3:
        if (!Has(kLoops)) return {};
        return Substitute(
            "for (int i = threadIdx.x; i < x; i += $0) { x ^= i * x; if (x & 64) break; }",
            random_.Range(1, 9));
      case 4:
        if (!Has(kSpecials)) return {};
        return random_.Pick<std::string>(
            {"x += __shfl_sync(~0u, x, 3);", "x = __ballot_sync(~0u, x > 3);", "x += blockIdx.z;",
             "__threadfence();", "__syncwarp();", "x += (int)clock64();"});
      case 5:
        if (!Has(kPressure)) return {};
        return Substitute(
            "{ int v[$0]; int* q = (int*)(long long)x;\n#pragma unroll\n"
            "for (int i = 0; i < $0; ++i) v[i] = ((volatile int*)q)[i];\n  __syncthreads();\n"
            "#pragma unroll\nfor (int i = 0; i < $0; ++i) q[i * 2] = v[$0 - 1 - i]; }",
            random_.Pick({10, 30, 60}));
      case 6:
        if (!Has(kBarriers)) return {};
        return Substitute("asm volatile(\"bar.sync $0;\");", random_.Range(0, 15));
      default:
        if (!Has(kAsync) || target_.number < 80) return {};
        return "asm volatile(\"cp.async.wait_all;\" ::: \"memory\");";
    }
  }

  std::string VirtualCall(const Function& f) {
    if (!Has(kIndirect) || classes_.empty()) return {};
    const Class& c = random_.Pick(classes_);
    if (IsEverywhere(f) && random_.Chance(50)) return {};
    return Substitute(
        "{ $0 b; $0Child c; b.v = x; c.v = 3; $0* o = (x & 1) ? &b : ($0*)&c; x += o->$1(x); }",
        c.name, random_.Chance(50) ? "First" : "Second");
  }

  Prng random_;
  ProgramTarget target_;
  GeneratorLimits limits_;
  int files_ = 1;
  int file_ = 0;
  bool table_ = false;
  std::vector<Function> functions_;
  std::vector<Variable> variables_;
  std::vector<Class> classes_;
};

}  // namespace

RandomProgram MakeCudaProgram(std::uint64_t seed, ProgramTarget target,
                              const GeneratorLimits& limits) {
  return CudaWriter(seed, target, limits).Write();
}

RandomProgram MakeLtoProgram(std::uint64_t seed, ProgramTarget target, const std::string& toolkit,
                             const GeneratorLimits& limits) {
  GeneratorLimits chosen = limits;
  chosen.features &= ~static_cast<std::uint32_t>(kDebugInfo);  // nvcc does not take -G with -dlto
  RandomProgram program = MakeCudaProgram(seed, target, chosen);
  for (SourceFile& file : program.files) file.flags.emplace_back("-dlto");
  const bool with_lib64 = std::filesystem::exists(toolkit + "/lib64/libnvvm.so");
  // nvlink wants the device runtime behind host objects.
  for (const std::string& flag :
       {std::string("-lto"), Cat("-nvvmpath=", toolkit, with_lib64 ? "" : "/nvvm"),
        Cat("-L", toolkit, "/targets/x86_64-linux/lib"), Cat("-L", toolkit, "/lib64"),
        Cat("-L", toolkit, "/lib"), std::string("-lcudadevrt")}) {
    program.link_flags.push_back(flag);
  }
  return program;
}

}  // namespace devlink::testing
