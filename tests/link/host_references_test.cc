// SPDX-License-Identifier: Apache-2.0
//
// What nvlink leaves out because no host code refers to it, devlink leaves out, too: host objects
// for nvlink, their cubins and lists for devlink (docs/host-references.md).
#include "format/host_references.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "devlink-diff/cubin_diff.h"
#include "devlink-diff/cubin_view.h"
#include "devlink/devlink.h"
#include "random/link_pair.h"
#include "random/ptx_program.h"
#include "support/catch.h"
#include "support/host_object.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using diff::CubinView;
using diff::ExplainDifference;
using diff::ViewCubin;
using diff::ViewSection;
using diff::ViewSymbol;

constexpr std::array<int, 5> kTargets = {75, 80, 90, 100, 120};
constexpr auto kToolLimit = std::chrono::seconds(20);

using Bytes = std::vector<std::uint8_t>;

struct Object {
  Bytes cubin;
  std::vector<ElfSection> lists;
};

HostReferences ReferencesOf(const std::vector<ElfSection>& lists) {
  HostReferences out;
  for (const ElfSection& section : lists) {
    const Bytes bytes(section.contents.begin(), section.contents.end());
    HostReferences::List* list = internal::FindList(out, section.name);
    if (list != nullptr) *list = internal::ReadHostReferenceList(bytes);
  }
  return out;
}

class Comparison {
 public:
  Comparison(const Toolkit& toolkit, int sm) : toolkit_(toolkit), sm_(sm) {}

  Bytes Assemble(const std::string& ptx) {
    const std::string output = directory_.File("assembled.cubin");
    WriteText(directory_.File("source.ptx"), ptx);
    const ProcessResult result = RunProcess(
        {toolkit_.ptxas, "-c", Cat("-arch=sm_", sm_), directory_.File("source.ptx"), "-o", output});
    return result.ok() ? ReadBytes(output).value_or(Bytes{}) : Bytes{};
  }

  // By devlink alone; an error where an input is refused.
  absl::StatusOr<devlink::LinkOutcome> Link(const std::vector<Object>& objects,
                                            LinkOptions options = {}) {
    options.target = Arch::Parse(Cat("sm_", sm_)).value_or(Arch{});
    auto session = LinkSession::Create(options, {.toolchain = FinalizerTools(objects.size())});
    if (!session.ok()) return session.status();
    for (std::size_t i = 0; i < objects.size(); ++i) {
      auto added = session->AddCubin(directory_.File(Cat("o", i, ".o")),
                                     std::span<const std::uint8_t>(objects[i].cubin),
                                     ReferencesOf(objects[i].lists));
      if (!added.ok()) return added;
    }
    return session->Link();
  }

  // What differs; empty where nothing does. `flags` is what nvlink is told of `options`.
  std::string Check(const std::vector<Object>& objects, LinkOptions options = {},
                    const std::vector<std::string>& flags = {}) {
    const std::string output = directory_.File("out.cubin");
    std::vector<std::string> command = {toolkit_.nvlink, Cat("-arch=sm_", sm_), "-o", output};
    command.insert(command.end(), flags.begin(), flags.end());
    for (std::size_t i = 0; i < objects.size(); ++i) {
      command.push_back(directory_.File(Cat("o", i, ".o")));
      WriteBytes(command.back(), MakeHostObject(objects[i].cubin, sm_, objects[i].lists));
    }
    const ProcessResult expected = RunProcess(command, kToolLimit);
    if (expected.signal != 0 || expected.timed_out) return "nvlink crashed";
    const Bytes expected_cubin = expected.ok() ? ReadBytes(output).value_or(Bytes{}) : Bytes{};

    if (!flags.empty()) Record(objects.size(), flags, options);
    const auto linked = Link(objects, options);
    if (!linked.ok()) return linked.status().ToString();
    const devlink::LinkOutcome& actual = *linked;
    std::string messages;
    for (const Diagnostic& d : actual.diagnostics) messages += RenderDiagnostic(d, "devlink");
    if (actual.ok() != expected.ok()) {
      return Cat("status\nnvlink says:\n", expected.err, "devlink says:\n", messages);
    }
    if (SaidOnce(UnderDevlinksName(expected.err)) != UnderDevlinksName(messages)) {
      return Cat("messages\nnvlink says:\n", expected.err, "devlink says:\n", messages);
    }
    return actual.ok() ? ExplainDifference(expected_cubin, actual.cubin) : "";
  }

 private:
  // What nvlink records of its command; with -g the names of files, too.
  void Record(std::size_t objects, std::vector<std::string> flags, LinkOptions& options) const {
    std::string& out = options.recorded_options;
    out.clear();
    if (flags.front() == "-g") {
      flags.erase(flags.begin());
      for (std::size_t i = 0; i < objects; ++i) Append(out, i == 0 ? "" : ",", "o", i, ".o");
      Append(out, " -o out.cubin -g  ");
      options.recorded_object = "out.cubin";
    }
    Append(out, "-arch sm_", sm_, " ", Join(flags, " "), flags.size() == 1 ? "  " : " ");
  }

  const Toolkit& toolkit_;
  int sm_;
  TemporaryDirectory directory_{"devlink-host"};
};

// --- What nvcc writes ----------------------------------------------------------------------------

constexpr std::string_view kFirstSource = R"(
__device__ int unreferenced = 1;
__device__ int copied;
static __device__ int static_copied;
__constant__ int table[4] = {1, 2};
__managed__ int managed = 3;
extern __device__ int elsewhere(int x);
__device__ __noinline__ int only_of_dropped(int x) { __shared__ int s[32]; s[x] = x; __syncthreads(); return s[31 - x] * unreferenced; }
__device__ __noinline__ int of_used(int x) { return x * copied + table[x & 3]; }
__global__ void used(int* p) { *p = of_used(*p); }
__global__ void dropped(int* p) { *p = only_of_dropped(*p) + managed; }
static __global__ void static_used(int* p) { *p = static_copied; }
static __global__ void static_dropped(int* p) { *p = elsewhere(static_copied); }
template <class T> __global__ void pattern(T* p) { *p = T(unreferenced); }
template __global__ void pattern<double>(double*);
namespace { __global__ void unnamed(int* p) { *p = 3; } }
void Host() {
  used<<<1, 1>>>(0); static_used<<<1, 1>>>(0); pattern<float><<<1, 1>>>(0); unnamed<<<1, 1>>>(0);
  int x = 0;
  cudaMemcpyFromSymbol(&x, copied, 4); cudaMemcpyFromSymbol(&x, static_copied, 4);
  cudaMemcpyToSymbol(table, &x, 4);
}
)";

constexpr std::string_view kSecondSource = R"(
#include <cstdio>
__device__ int elsewhere(int x) { printf("%d", x); return x + 1; }
__global__ void __launch_bounds__(64) printing(int* p) { printf("%d", *p); }
__global__ void of_another_file(int* p) { __shared__ int s[64]; s[threadIdx.x] = *p; __syncthreads(); *p = s[1] + elsewhere(*p); }
void Launch(bool b) { if (b) of_another_file<<<1, 1>>>(0); }
)";

TEST_CASE("objects of nvcc") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  const TemporaryDirectory directory("devlink-host");
  std::vector<Bytes> files;
  for (const std::string_view source : {kFirstSource, kSecondSource}) {
    const std::string name = directory.File(Cat("s", files.size(), ".cu"));
    WriteText(name, source);
    std::vector<std::string> command = {toolkit->nvcc, "-dc", "-w", "--no-compress"};
    for (const int sm : kTargets) {
      command.push_back(Cat("-gencode=arch=compute_", sm, ",code=sm_", sm));
    }
    command.insert(command.end(), {name, "-o", name + ".o"});
    const ProcessResult compiled = RunProcess(command);
    INFO(compiled.err);
    REQUIRE(compiled.ok());
    files.push_back(ReadBytes(name + ".o").value_or(Bytes{}));
  }
  for (const int sm : kTargets) {
    Comparison comparison(*toolkit, sm);
    std::vector<Object> objects;
    for (const Bytes& file : files) {
      objects.push_back({CubinOf(file, sm), HostReferenceSectionsOf(file)});
      REQUIRE_FALSE(objects.back().cubin.empty());
      REQUIRE(objects.back().lists.size() == 6);
    }
    INFO("sm_" << sm);
    CHECK(comparison.Check(objects) == "");
    CHECK(comparison.Check({objects[1], objects[0]}) == "");
    CHECK(comparison.Check({objects[1]}) == "");
    LinkOptions ignoring;
    ignoring.host_info = HostInfo::kIgnore;
    CHECK(comparison.Check(objects, ignoring, {"-ignore-host-info"}) == "");
    // Without its lists one object keeps the kernels of both.
    CHECK(comparison.Check({objects[0], {objects[1].cubin, {}}}) == "");
  }
}

// --- Every combination of lists ------------------------------------------------------------------

std::string Kernel(std::string_view linkage, std::string_view name, std::string_view calls = "") {
  return Cat(linkage, ".entry ", name,
             "(.param .u64 p) { .reg .b64 %rd<4>; .shared .align 4 .b8 own_", name,
             "[64]; ld.param.u64 %rd1, [p]; st.shared.u32 [own_", name, "], 1; ", calls,
             " st.global.u32 [%rd1], 7; ret; }\n");
}

std::string Function(std::string_view name) {
  return Cat(".visible .func ", name,
             "() { .reg .b32 %r<3>; mov.u32 %r1, %clock; st.shared.u32 [pool], %r1; ret; }\n");
}

std::string Header(int sm) {
  return Cat(".version ", sm < 100 ? "8.0" : "8.8", "\n.target sm_", sm, "\n.address_size 64\n");
}

using List = std::vector<std::string>;
struct ListPair {
  bool external_present = true;
  List external;
  List internal;
};

std::vector<ElfSection> Sections(const ListPair& lists) {
  std::vector<ElfSection> out;
  if (lists.external_present) out.push_back({".nvHRKE", ListBytes(lists.external), 1});
  out.push_back({".nvHRKI", ListBytes(lists.internal), 1});
  return out;
}

class TwoFiles {
 public:
  TwoFiles(Comparison& comparison, int sm)
      : first_(comparison.Assemble(Cat(Header(sm), ".shared .align 4 .b8 pool[128];\n",
                                       Function("f"), Function("g"), Kernel(".visible ", "va"),
                                       Kernel(".visible ", "vx", "call f;"), Kernel("", "sa"),
                                       Kernel("", "sx", "call g;"), Kernel(".weak ", "wa")))),
        second_(comparison.Assemble(
            Cat(Header(sm), ".extern .func f();\n.extern .func nowhere();\n",
                Kernel(".visible ", "vb", "call f;"), Kernel(".visible ", "vy", "call nowhere;"),
                Kernel("", "sb"), Kernel(".weak ", "wa")))) {}

  [[nodiscard]] std::vector<Object> With(const ListPair& first, const ListPair& second) const {
    return {{first_, Sections(first)}, {second_, Sections(second)}};
  }
  [[nodiscard]] bool ok() const { return !first_.empty() && !second_.empty(); }

 private:
  Bytes first_;
  Bytes second_;
};

TEST_CASE("lists of two objects") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  const std::vector<std::pair<ListPair, ListPair>> cases = {
      {{true, {"va"}, {}}, {true, {}, {}}},
      {{true, {"va"}, {}}, {true, {"vb"}, {}}},
      {{true, {"v*"}, {}}, {true, {}, {}}},
      {{true, {}, {"sa"}}, {true, {}, {}}},
      {{true, {"va"}, {"va"}}, {true, {"sa"}, {"s*"}}},
      {{true, {"wa"}, {}}, {true, {}, {}}},
      {{true, {}, {}}, {true, {}, {}}},
      {{true, {}, {}}, {true, {"w*", "*b"}, {}}},
      {{true, {"va"}, {}}, {false, {}, {"sa"}}},
      {{true, {"nothing"}, {}}, {true, {}, {}}},
      {{true, {"?a", "[v]a"}, {"sx"}}, {true, {}, {}}},
      {{true, {"*x"}, {"*"}}, {true, {"vb"}, {}}},
  };
  for (const int sm : kTargets) {
    Comparison comparison(*toolkit, sm);
    const TwoFiles files(comparison, sm);
    REQUIRE(files.ok());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      INFO("sm_" << sm << " case " << i);
      CHECK(comparison.Check(files.With(cases[i].first, cases[i].second)) == "");
    }
    // Empty texts leave all kernels out for nvlink, and count for nothing otherwise.
    LinkOptions like_nvlink;
    like_nvlink.compatibility = Compatibility::kNvlink;
    const ListPair empty_texts = {true, {"", ""}, {}};
    CHECK(comparison.Check(files.With(empty_texts, {true, {}, {}}), like_nvlink) == "");
    CHECK(comparison.Check(files.With(empty_texts, {true, {}, {}})) != "");
    CHECK(comparison.Check(files.With(empty_texts, {true, {"va"}, {}})) == "");
  }
}

TEST_CASE("options that say which kernels stay") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const int sm : kTargets) {
    Comparison comparison(*toolkit, sm);
    const TwoFiles files(comparison, sm);
    REQUIRE(files.ok());
    const auto objects = files.With({true, {"vb"}, {}}, {true, {}, {}});
    INFO("sm_" << sm);
    for (const List& used : {List{"va"}, List{"a", "b"}, List{"w"}, List{"nothing"}}) {
      LinkOptions options;
      options.kernels_used = used;
      INFO("kernels used: " << Join(used, ","));
      CHECK(comparison.Check(objects, options, {"-kernels-used", Join(used, ",")}) == "");
    }
    LinkOptions options;
    options.variables_used = {"pool"};
    CHECK(comparison.Check(objects, options, {"-variables-used", "pool"}) == "");
    options.kernels_used = {"vb"};
    CHECK(comparison.Check(objects, options, {"-kernels-used", "vb", "-variables-used", "pool"}) ==
          "");
    // `vy` stays and calls what is nowhere.
    LinkOptions ignoring;
    ignoring.host_info = HostInfo::kIgnore;
    CHECK(comparison.Check(objects, ignoring, {"-ignore-host-info"}) == "");
    LinkOptions using_lists;
    using_lists.host_info = HostInfo::kUse;
    CHECK(comparison.Check(objects, using_lists, {"-use-host-info"}) == "");
  }
}

// Kernels that nobody asks for, whose addresses are taken, get sections for variables of files when
// these are laid out.
TEST_CASE("shared memory of kernels that stay for their addresses") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const int sm : kTargets) {
    Comparison comparison(*toolkit, sm);
    const std::string head = Cat(".version 9.0\n.target sm_", sm, "\n.address_size 64\n");
    const std::string variables = " .shared .align 4 .b32 v[20];\n";
    const std::string uses_v =
        " .reg .b32 y; ld.shared.u32 y, [v+4]; st.shared.u32 [v+8], y; bar.sync 0;";
    // A file with a wanted kernel and, by a letter each, others: d uses the variable itself, c
    // calls what does, b both, and all of them have their address taken.
    const auto object = [&](const std::string& name, const std::string& kernels) -> Object {
      std::string text = Cat(head, ".extern", variables, ".extern .func calls_v();\n");
      std::string taker = Cat(".visible .func take_", name, "(.param .u64 p)\n{ .reg .b64 a, b; ",
                              "ld.param.u64 a, [p];");
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        const std::string kernel = Cat(name, i);
        text +=
            Cat(".visible .entry ", kernel, "(.param .u64 a)\n{", kernels[i] == 'c' ? "" : uses_v,
                kernels[i] == 'd' ? "" : " call calls_v, ();", " ret; }\n");
        taker += Cat(" mov.u64 b, ", kernel, "; st.global.u64 [a], b;");
      }
      text +=
          Cat(".visible .entry wanted_", name, "(.param .u64 a) { ret; }\n", taker, " ret; }\n");
      return {.cubin = comparison.Assemble(text), .lists = {}};
    };
    const Object defines = {
        .cubin = comparison.Assemble(
            Cat(head, ".visible", variables, ".visible .func calls_v()\n{", uses_v, " ret; }\n")),
        .lists = {}};
    for (const auto& [first, second] :
         {std::pair("ddd", "dd"), {"ccc", "cc"}, {"cdb", "dc"}, {"bcd", "cbd"}}) {
      const Object a = object("a", first);
      const Object b = object("b", second);
      for (const std::vector<Object>& objects :
           {std::vector{a, b, defines}, {defines, b, a}, {b, defines, a}}) {
        for (const std::string wanted : {"wanted", "wanted,a0,b1"}) {
          INFO("sm_" << sm << ", " << first << " and " << second << ", wanted: " << wanted);
          LinkOptions options;
          options.kernels_used = {"wanted"};
          if (wanted.size() > options.kernels_used[0].size()) {
            options.kernels_used.insert(options.kernels_used.end(), {"a0", "b1"});
          }
          CHECK(comparison.Check(objects, options, {"-kernels-used", wanted}) == "");
        }
      }
    }
  }
}

// A kernel that nobody asks for leaves the name of its shared memory where a copy that is discarded
// had some.
TEST_CASE("shared memory of copies of kernels that are not asked for") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const int sm : kTargets) {
    Comparison comparison(*toolkit, sm);
    const std::string head = Cat(".version 9.0\n.target sm_", sm, "\n.address_size 64\n");
    const std::string begin = "entry kw(.param .u64 a)\n{ ";
    const auto with = [](std::string_view size) {
      return Cat(
          ".reg .b32 x; .shared .align 8 .b8 s[", size,
          "]; ld.shared.u32 x, [s]; add.u32 x, x, 1; st.shared.u32 [s], x; bar.sync 0; ret; }");
    };
    const std::string extern_shared = ".extern .shared .align 16 .b8 d[];\n";
    const auto object = [&](const std::string& text) -> Object {
      return {.cubin = comparison.Assemble(head + text), .lists = {}};
    };
    const Object none = object(Cat(".weak .", begin, "ret; }\n.visible .entry other() { ret; }"));
    const Object some = object(Cat(".weak .", begin, with("4")));
    const Object more = object(Cat(".weak .", begin, with("40")));
    const Object strong = object(Cat(".visible .", begin, "ret; }"));
    const Object outer =
        object(Cat(extern_shared, ".weak .", begin,
                   ".reg .b32 x; ld.shared.u32 x, [d]; st.shared.u32 [d+4], x; ret; }"));
    // Whoever asked for them, these stay for their address.
    const std::string pointer = "\n.visible .global .u64 pointer = kw;\n";
    const Object kept = object(Cat(".weak .", begin, "ret; }", pointer));
    const Object kept_strong = object(Cat(".visible .", begin, "ret; }", pointer));
    const std::vector<std::vector<Object>> links = {
        {none, some},        {none, some, more},  {none, more, some}, {some, none},
        {some, more},        {outer, some},       {strong, some},     {none, some, strong},
        {none, outer},       {kept, some},        {kept, some, more}, {kept, more, some},
        {kept, outer},       {kept, outer, some}, {kept, none, some}, {none, kept, some},
        {kept_strong, some}, {kept, some, strong}};
    for (std::size_t i = 0; i < links.size(); ++i) {
      for (const std::string wanted : {"other", "kw", "nothing"}) {
        INFO("sm_" << sm << ", link " << i << ", wanted: " << wanted);
        LinkOptions options;
        options.kernels_used = {wanted};
        CHECK(comparison.Check(links[i], options, {"-kernels-used", wanted}) == "");
      }
    }
  }
}

// Code stays, but nvlink gives a kernel that is not asked for no memory of what it calls.
TEST_CASE("kernels that stay for a debugger without debug information") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const int sm : kTargets) {
    Comparison comparison(*toolkit, sm);
    const std::string source =
        Cat(Header(sm), ".shared .align 4 .b8 pool[128];\n", Function("f"), Function("unused"),
            Kernel(".visible ", "asked_for"), Kernel(".visible ", "beside", "call f;"));
    const Bytes cubin = comparison.Assemble(source);
    REQUIRE_FALSE(cubin.empty());
    INFO("sm_" << sm);
    LinkOptions options;
    options.debug = true;
    options.suppress_debug_info = true;
    const std::vector<std::string> flags = {"-g", "-suppress-debug-info"};
    const std::vector<Object> objects = {{cubin, Sections({true, {"asked_for"}, {}})}};
    CHECK(comparison.Check(objects, options, flags) != "");
    options.compatibility = Compatibility::kNvlink;
    CHECK(comparison.Check(objects, options, flags) == "");
    CHECK(comparison.Check({{cubin, {}}}, options, flags) == "");
    options.kernels_used = {"asked_for"};
    CHECK(comparison.Check({{cubin, {}}}, options,
                           {"-g", "-suppress-debug-info", "-kernels-used=asked_for"}) == "");
  }
}

// nvlink finalizes as without -g then.
TEST_CASE("code is finalized as for nobody who debugs where debug information is suppressed") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const int sm : {90, 100, 120}) {
    Comparison comparison(*toolkit, sm);
    const Bytes cubin = comparison.Assemble(
        Cat(Header(sm), ".shared .align 4 .b8 pool[128];\n", Function("f"),
            Kernel(".visible ", "k", "call f; call f;"), Kernel(".visible ", "l", "call f;")));
    REQUIRE_FALSE(cubin.empty());
    INFO("sm_" << sm);
    LinkOptions options;
    options.debug = true;
    CHECK(comparison.Check({{cubin, {}}}, options, {"-g"}) == "");
    options.suppress_debug_info = true;
    CHECK(comparison.Check({{cubin, {}}}, options, {"-g", "-suppress-debug-info"}) == "");
  }
}

// --- Kernels that only device code runs ----------------------------------------------------------

std::string FunctionWithShared(std::string_view name, std::string_view variable) {
  return Cat(".visible .func ", name, "() { .reg .b32 %r<3>; mov.u32 %r1, %clock; mov.u32 %r2, ",
             variable, "; st.shared.u32 [%r2], %r1; ret; }\n");
}

std::string KernelThatCalls(std::string_view name, const std::vector<std::string>& callees) {
  std::string out = Cat(".visible .entry ", name, "() { ");
  for (const std::string& callee : callees) out += Cat("call ", callee, "; ");
  return out + "ret; }\n";
}

// nvlink makes the section of such a kernel when it comes to need it: first those with a variable
// of their own, then those that share one, then those of `extern x[]`, which do not take the
// alignment of the others.
TEST_CASE("kernels have the shared memory of what they call, whoever asked for them") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const int sm : kTargets) {
    Comparison comparison(*toolkit, sm);
    std::string kernels = Header(sm);
    for (const auto* function : {"f", "g", "h", "d", "e"}) {
      kernels += Cat(".extern .func ", function, "();\n");
    }
    kernels += KernelThatCalls("k4", {"f"}) + KernelThatCalls("k2", {"g"}) +
               KernelThatCalls("k3", {"h", "f"}) + KernelThatCalls("k6", {"e"}) +
               KernelThatCalls("k5", {"e", "g"}) + KernelThatCalls("k7", {}) +
               KernelThatCalls("k8", {"h"}) + KernelThatCalls("k9", {"d"});
    std::string wanted =
        ".visible .entry wanted(.param .u64 p) { .reg .b64 %rd<3>; "
        "ld.param.u64 %rd1, [p]; ";
    for (int k = 2; k <= 9; ++k) wanted += Cat("mov.u64 %rd2, k", k, "; st.u64 [%rd1], %rd2; ");
    kernels += wanted + "ret; }\n";
    const std::string functions = Cat(
        Header(sm), ".shared .align 4 .b8 sf[400];\n.shared .align 32 .b8 sg[40];\n",
        ".shared .align 8 .b8 sh[80];\n.extern .shared .align 16 .b8 dyn[];\n",
        FunctionWithShared("f", "sf"), FunctionWithShared("g", "sg"), FunctionWithShared("h", "sh"),
        FunctionWithShared("d", "dyn"), FunctionWithShared("e", "dyn"));
    const std::vector<Object> objects = {{comparison.Assemble(kernels), {}},
                                         {comparison.Assemble(functions), {}}};
    REQUIRE_FALSE(objects[0].cubin.empty());
    REQUIRE_FALSE(objects[1].cubin.empty());
    INFO("sm_" << sm);
    for (const List& used : {List{"wanted", "k7"}, List{"wanted", "k3"}}) {
      LinkOptions options;
      options.kernels_used = used;
      CHECK(comparison.Check(objects, options, {"-kernels-used", Join(used, ",")}) == "");
      std::vector<Object> swapped = {objects[1], objects[0]};
      CHECK(comparison.Check(swapped, options, {"-kernels-used", Join(used, ",")}) == "");
    }
    LinkOptions options;
    options.variables_used = {"x"};
    CHECK(comparison.Check(objects, options, {"-variables-used", "x"}) == "");
  }
}

// nvlink asks -kernels-used when it meets a name, and does not ask again where a file defines what
// one before it refers to.
TEST_CASE("kernels that an earlier file refers to") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const int sm : kTargets) {
    Comparison comparison(*toolkit, sm);
    const std::vector<Object> objects = {
        {comparison.Assemble(Cat(Header(sm), ".extern .entry launched(.param .u64 p);\n",
                                 ".visible .entry launches(.param .u64 p) { .reg .b64 a, b; "
                                 "ld.param.u64 a, [p]; mov.u64 b, launched; st.u64 [a], b; "
                                 "ret; }\n")),
         {}},
        {comparison.Assemble(Cat(Header(sm), Kernel(".visible ", "other"),
                                 Kernel(".visible ", "launched"), Kernel(".visible ", "wanted"))),
         {}}};
    REQUIRE_FALSE(objects[0].cubin.empty());
    REQUIRE_FALSE(objects[1].cubin.empty());
    INFO("sm_" << sm);
    for (const List& used : {List{"wanted"}, List{"launches"}, List{"other", "wanted"}}) {
      LinkOptions options;
      options.kernels_used = used;
      INFO("kernels used: " << Join(used, ","));
      CHECK(comparison.Check(objects, options, {"-kernels-used", Join(used, ",")}) == "");
      CHECK(comparison.Check({objects[1], objects[0]}, options,
                             {"-kernels-used", Join(used, ",")}) == "");
    }
    LinkOptions options;
    options.variables_used = {"x"};
    CHECK(comparison.Check(objects, options, {"-variables-used", "x"}) == "");
  }
}

// --- Random programs, random lists ---------------------------------------------------------------

// The functions of a cubin, for lists and as patterns.
void AddRandomNames(const Bytes& cubin, std::mt19937_64& random, List& external, List& internal) {
  for (const ViewSymbol& symbol : ViewCubin(cubin).symbols) {
    if ((symbol.info & 15) != 2 || symbol.section == 0 || random() % 2 == 0) continue;
    std::string name = symbol.key.substr(0, symbol.key.find('#'));
    if (random() % 2 == 0) name += '*';
    ((symbol.info >> 4) == 0 ? internal : external).push_back(name);
  }
}

// --- The finalizer, which knows no host code ----------------------------------------------------

// Kernels that launch others by their addresses, and others whose names hold theirs.
std::string KernelsAlike(int sm) {
  std::string out = Cat(Header(sm), ".shared .align 32 .b8 pool[64];\n");
  const auto kernel = [&](std::string_view name, std::string_view body) {
    out += Cat(".visible .entry ", name, "(.param .u64 p) { .reg .b32 x; .reg .b64 a, b; ", body,
               " ld.param.u64 a, [p]; st.global.u64 [a], b; ret; }\n");
  };
  constexpr std::string_view kOwn =
      ".shared .align 8 .b8 s[16]; mov.u32 x, %clock; st.shared.u32 [s], x; bar.sync 0;";
  kernel("scale", "mov.u64 b, 1;");
  kernel("scale2", kOwn);
  kernel("scale23", "mov.u32 x, %clock; st.shared.u32 [pool], x;");
  kernel("my_scale", "mov.u64 b, 2;");
  kernel("run", kOwn);
  kernel("run_all", "mov.u64 b, run;");
  return out;
}

TEST_CASE("what host code asks for shows in finalized code, too") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const int sm : kTargets) {
    Comparison comparison(*toolkit, sm);
    const Bytes cubin = comparison.Assemble(KernelsAlike(sm));
    REQUIRE_FALSE(cubin.empty());
    for (const List& wanted :
         {List{"scale"}, List{"scale2"}, List{"scale2", "my_scale"}, List{"run"}, List{"run_all"},
          List{"run", "scale"}, List{"run_all", "scale"}, List{"scale", "run", "run_all"},
          List{"nobody"}}) {
      INFO("sm_" << sm << ", wanted: " << Join(wanted, ","));
      CHECK(comparison.Check({{cubin, Sections({true, wanted, {}})}}) == "");
    }
  }
}

// Which is linked for another member of the family only by the finalizer, and all the same has
// names of our own link.
TEST_CASE("what host code asks for shows in code made for a relative, too") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  const Bytes cubin = Comparison(*toolkit, 100)
                          .Assemble(Cat(KernelsAlike(100),
                                        ".visible .entry halve(.param .u64 p) { .reg .b64 a; .reg "
                                        ".f64 d; ld.param.u64 a, [p]; "
                                        "ld.global.f64 d, [a]; mul.f64 d, d, 0d3FE0000000000000; "
                                        "st.global.f64 [a], d; ret; }\n"));
  REQUIRE_FALSE(cubin.empty());
  Comparison comparison(*toolkit, 103);
  for (const List& wanted : {List{"halve"}, List{"run_all"}, List{"halve", "scale2", "run"}}) {
    INFO("wanted: " << Join(wanted, ","));
    CHECK(comparison.Check({{cubin, Sections({true, wanted, {}})}}) == "");
  }
}

// The finalizer is told of all kernels then, as nvlink is, so that nothing has names of our own.
TEST_CASE("code made for a relative whose debug information is suppressed is nvlink's") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  const auto jumps = [](std::string_view name) {
    return Cat(".visible .func ", name,
               "() { .reg .b32 r; mov.u32 r, %tid.x; "
               "ts: .branchtargets A, B, C, D; brx.idx r, ts; A: mov.u32 r, %clock; bra E; "
               "B: add.u32 r, r, 9; bra E; C: mul.lo.u32 r, r, r; bra E; D: mov.u32 r, %ctaid.x; "
               "E: st.global.u32 [g], r; ret; }\n");
  };
  Comparison related(*toolkit, 100);
  const Bytes first =
      related.Assemble(Cat(Header(100), ".visible .global .u32 g;\n.extern .func f3();\n",
                           jumps("f1"), jumps("f2"), Kernel(".visible ", "k4", "call f3;")));
  const Bytes second = related.Assemble(
      Cat(Header(100), ".extern .func f1();\n.extern .func f2();\n",
          ".visible .func f3() { call f1; ret; }\n", Kernel(".visible ", "k3", "call f2;")));
  REQUIRE_FALSE(first.empty());
  REQUIRE_FALSE(second.empty());
  LinkOptions options;
  options.debug = true;
  options.suppress_debug_info = true;
  Comparison comparison(*toolkit, 103);
  CHECK(comparison.Check({{first, {}}, {second, {}}}, options, {"-g", "-suppress-debug-info"}) ==
        "");
}

// nvlink follows the calls of the one that is asked for, and of no other.
TEST_CASE("what other kernels call that stay is not lost") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const int sm : kTargets) {
    INFO("sm_" << sm);
    Comparison comparison(*toolkit, sm);
    const Bytes cubin = comparison.Assemble(
        Cat(Header(sm), ".shared .align 4 .b8 pool[64];\n", Function("helper"),
            Kernel(".visible ", "run", "call helper;"),
            ".visible .entry run_all(.param .u64 p) { .reg .b64 a, b; ld.param.u64 a, [p]; "
            "mov.u64 b, run; st.global.u64 [a], b; ret; }\n"));
    REQUIRE_FALSE(cubin.empty());
    LinkOptions used;
    used.kernels_used = {"run_all"};
    for (const auto& [options, lists] :
         {std::pair(used, ListPair{}), std::pair(LinkOptions(), ListPair{true, {"run_all"}, {}})}) {
      const auto linked = comparison.Link({{cubin, Sections(lists)}}, options);
      REQUIRE(linked.ok());
      REQUIRE(linked->ok());
      const auto view = ViewCubin(linked->cubin);
      CHECK(std::any_of(view.symbols.begin(), view.symbols.end(),
                        [](const ViewSymbol& symbol) { return symbol.name == "helper"; }));
    }
    used.compatibility = Compatibility::kNvlink;
    CHECK(comparison.Check({{cubin, Sections({})}}, used, {"-kernels-used", "run_all"}) == "");
  }
}

TEST_CASE("where nothing is lost the file is nvlink's") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  for (const int sm : kTargets) {
    INFO("sm_" << sm);
    Comparison comparison(*toolkit, sm);
    const Bytes cubin = comparison.Assemble(
        Cat(Header(sm), ".visible .func plain() { .reg .b32 x; mov.u32 x, %clock; ret; }\n",
            Kernel(".visible ", "run", "call plain;"),
            ".visible .entry run_all(.param .u64 p) { .reg .b64 a, b; ld.param.u64 a, [p]; "
            "call plain; mov.u64 b, run; st.global.u64 [a], b; ret; }\n"));
    REQUIRE_FALSE(cubin.empty());
    LinkOptions used;
    used.kernels_used = {"run_all"};
    CHECK(comparison.Check({{cubin, Sections({})}}, used, {"-kernels-used", "run_all"}) == "");
  }
}

TEST_CASE("random programs with random lists") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  constexpr std::uint64_t kPrograms = 12;
  GeneratorLimits limits;
  limits.features = 0x203ffffc;  // as in random_test
  int compared = 0;
  for (const int sm : kTargets) {
    for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
      Comparison comparison(*toolkit, sm);
      std::mt19937_64 random(seed);
      std::vector<Object> objects;
      bool assembled = true;
      for (const SourceFile& file :
           MakePtxProgram(seed, {.number = sm, .variant = 0}, limits).files) {
        Object object{comparison.Assemble(file.text), {}};
        assembled = assembled && !object.cubin.empty();
        ListPair lists;
        AddRandomNames(object.cubin, random, lists.external, lists.internal);
        object.lists = Sections(lists);
        objects.push_back(std::move(object));
      }
      if (!assembled) continue;  // now and then ptxas refuses a program
      ++compared;
      INFO("sm_" << sm << " seed " << seed);
      CHECK(comparison.Check(objects) == "");
    }
  }
  CHECK(compared > 24);
}

// --- Equal constants of several files ------------------------------------------------------------

// nvlink up to 13.4 stores them once where kernels are left out, and moves what lies behind them
// without moving its symbols: `c2` is read where its data are not.
TEST_CASE("equal constants of several files stay where their symbols say") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  const auto constant = [](std::string_view name, int size, int value) {
    return Cat(".visible .const .align 8 .b8 ", name, "[", size, "] = {", value, "};\n");
  };
  for (const int sm : kTargets) {
    Comparison comparison(*toolkit, sm);
    std::vector<Object> objects;
    for (const auto& [name, size, value] :
         {std::tuple("c0", 16, 7), {"c1", 16, 7}, {"c2", 24, 9}}) {
      const std::string text =
          Cat(Header(sm), constant(name, size, value), Kernel(".visible ", Cat("k", name)));
      objects.push_back({comparison.Assemble(text), Sections({true, {"k*"}, {}})});
      REQUIRE_FALSE(objects.back().cubin.empty());
    }
    LinkOptions options;
    options.target = *Arch::Parse(Cat("sm_", sm));
    LinkSession session = *LinkSession::Create(options);
    for (const Object& object : objects) {
      REQUIRE(session.AddCubin("o", object.cubin, ReferencesOf(object.lists)).ok());
    }
    const auto linked = session.Link();
    REQUIRE(linked.ok());
    const CubinView view = ViewCubin(linked.cubin);
    const ViewSection* bank = view.Find(".nv.constant3");
    REQUIRE(bank != nullptr);
    CHECK(bank->size == 16 + 16 + 24);
    for (const ViewSymbol& symbol : view.symbols) {
      if (symbol.key != "c0" && symbol.key != "c1" && symbol.key != "c2") continue;
      REQUIRE(symbol.value + symbol.size <= bank->size);
      CHECK(bank->data[symbol.value] == (symbol.key == "c2" ? 9 : 7));
    }
    // Where no kernel is left out, nvlink does not join them; nor where they differ.
    options.host_info = HostInfo::kIgnore;
    CHECK(comparison.Check(objects, options, {"-ignore-host-info"}) == "");
    const std::string other = Cat(Header(sm), constant("c1", 16, 8), Kernel(".visible ", "kc1"));
    objects[1].cubin = comparison.Assemble(other);
    CHECK(comparison.Check(objects) == "");
  }
}

}  // namespace
}  // namespace devlink::testing
