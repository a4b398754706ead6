// SPDX-License-Identifier: Apache-2.0
//
// Functions in a merge: who defines them, and what a second definition does.
#include "report/dump.h"
#include "support/catch.h"
#include "unit/merge/merged.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using internal::DumpCalls;
using internal::DumpFunctions;
using internal::DumpRelocations;
using internal::DumpSections;
using internal::DumpSymbols;
using Function = InputBuilder::Function;

TEST_CASE("A kernel gets attributes and shared memory of its own", "[merge]") {
  InputBuilder a;
  a.DefineKernel("k");
  const Merged merged = MergeInputs({&a});
  CHECK(DumpFunctions(merged.program()) == R"(functions
  k kernel text=.text.k info=.nv.info.k shared=.nv.shared.k registers=8
)");
  CHECK(Pick(DumpSections(merged.program()), {".text.k", ".nv.info.k", ".nv.shared.k"}) ==
        R"(  .text.k text size=0x10 align=16 flags=0x6 function=k registers=8
    0x0: 0x10 bytes, 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11
  .nv.info.k function-info size=0x0 align=4 flags=0x40 owner=.text.k function=k
  .nv.shared.k entry-shared size=0x0 align=1 flags=0x43 owner=.text.k function=k
)");
}

TEST_CASE("A later input defines what an earlier one declares", "[merge]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Declare("f");
  a.AddCall(k, f);
  InputBuilder b;
  b.Define(Function{.name = "f", .registers = 12});
  const Merged merged = MergeInputs({&a, &b});
  CHECK(Pick(DumpSymbols(merged.program()), {"f"}) ==
        R"(  f function global section=.text.f size=0x10 input=1 global-part
)");
  CHECK(Pick(DumpFunctions(merged.program()), {"f"}) == R"(  f text=.text.f registers=12
)");
  CHECK(DumpCalls(merged.program()) == R"(calls
  k -> f
)");
}

// Two inputs with a body of `f` each, 11s in the first and 22s in the second; both bodies refer to
// and call a function of their own.
struct TwoBodies {
  TwoBodies(Function first, Function second) {
    first.fill = 0x11;
    second.fill = 0x22;
    Fill(a, first, "of_a");
    Fill(b, second, "of_b");
  }
  static void Fill(InputBuilder& input, const Function& function, const std::string& callee) {
    const SymbolHandle f = input.Define(function);
    const SymbolHandle other = input.Declare(callee);
    input.AddCall(f, other);
    input.Relocate(input.TextOf(f), 0, kAbs32Lo, other);
  }
  InputBuilder a;
  InputBuilder b;
};

TEST_CASE("Of two weak bodies the first stays", "[merge]") {
  TwoBodies bodies({.name = "f", .binding = format::kStbWeak},
                   {.name = "f", .binding = format::kStbWeak});
  const Merged merged = MergeInputs({&bodies.a, &bodies.b});
  CHECK(Pick(DumpSections(merged.program()), {".text.f"}) ==
        R"(  .text.f text size=0x10 align=16 flags=0x6 function=f registers=8
    0x0: 0x10 bytes, 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11
)");
  CHECK(DumpRelocations(merged.program()) == R"(relocations
  .text.f ABS32_LO_32 of_a list=.rel.text.f
)");
  CHECK(DumpCalls(merged.program()) == R"(calls
  f -> of_a
)");
}

TEST_CASE("A weak body that needs fewer registers replaces the first", "[merge]") {
  TwoBodies bodies({.name = "f", .binding = format::kStbWeak, .registers = 10},
                   {.name = "f", .binding = format::kStbWeak, .registers = 9});
  const Merged merged = MergeInputs({&bodies.a, &bodies.b});
  CHECK(Pick(DumpSections(merged.program()), {".text.f"}) ==
        R"(  .text.f text size=0x10 align=16 flags=0x6 function=f registers=9
    0x0: 0x10 bytes, 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22
)");
  CHECK(Pick(DumpFunctions(merged.program()), {"f"}) == R"(  f text=.text.f registers=9
)");
}

TEST_CASE("A strong body replaces a weak one, whose calls stay", "[merge]") {
  TwoBodies bodies({.name = "f", .binding = format::kStbWeak}, {.name = "f"});
  const Merged merged = MergeInputs({&bodies.a, &bodies.b});
  CHECK(Pick(DumpSymbols(merged.program()), {"f"}) ==
        R"(  f function global section=.text.f size=0x10 input=1
)");
  CHECK(Pick(DumpSections(merged.program()), {".text.f"}) ==
        R"(  .text.f text size=0x10 align=16 flags=0x6 function=f registers=8
    0x0: 0x10 bytes, 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22
)");
  CHECK(DumpCalls(merged.program()) == R"(calls
  f -> of_a
  f -> of_b
)");
}

TEST_CASE("A weak body behind a strong one is discarded with its calls", "[merge]") {
  TwoBodies bodies({.name = "f"}, {.name = "f", .binding = format::kStbWeak, .registers = 1});
  const Merged merged = MergeInputs({&bodies.a, &bodies.b});
  CHECK(Pick(DumpSections(merged.program()), {".text.f"}) ==
        R"(  .text.f text size=0x10 align=16 flags=0x6 function=f registers=8
    0x0: 0x10 bytes, 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11 11
)");
  CHECK(DumpRelocations(merged.program()) == R"(relocations
  .text.f ABS32_LO_32 of_a list=.rel.text.f
)");
  CHECK(DumpCalls(merged.program()) == R"(calls
  f -> of_a
)");
}

TEST_CASE("Two strong bodies are an error, and later inputs are not looked at", "[merge]") {
  TwoBodies bodies({.name = "f"}, {.name = "f"});
  InputBuilder c;
  c.Define(Function{.name = "f"});
  const Merged merged = MergeInputs({&bodies.a, &bodies.b, &c});
  CHECK(merged.result.status().code() == absl::StatusCode::kAlreadyExists);
  CHECK(merged.Findings() == R"(Multiple definition of 'f' in 'b', first defined in 'a'
merge_elf failed
)");
}

TEST_CASE("All that is wrong with one input is reported", "[merge]") {
  InputBuilder a;
  a.Define(Function{.name = "f"});
  a.DefineKernel("k");
  InputBuilder b;
  b.Define(Function{.name = "f"});
  b.DefineKernel("k");
  const Merged merged = MergeInputs({&a, &b});
  CHECK(merged.Findings() == R"(Multiple definition of 'f' in 'b', first defined in 'a'
Multiple definition of 'k' in 'b', first defined in 'a'
merge_elf failed
)");
}

TEST_CASE("A mangled name is explained", "[merge]") {
  InputBuilder a;
  a.Define(Function{.name = "_Z1fi"});
  InputBuilder b;
  b.Define(Function{.name = "_Z1fi"});
  const Merged merged = MergeInputs({&a, &b});
  REQUIRE(!merged.diagnostics.empty());
  CHECK(merged.diagnostics[0].notes == std::vector<std::string>{"'_Z1fi' is f(int)"});
}

TEST_CASE("A kernel must be one everywhere", "[merge]") {
  InputBuilder a;
  a.Declare("f");
  InputBuilder b;
  b.DefineKernel("f");
  const Merged merged = MergeInputs({&a, &b});
  CHECK(merged.result.status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(merged.Findings() == R"(Function 'f' not declared __global__ in all source files
merge_elf failed
)");
}

TEST_CASE("A function is not a variable", "[merge]") {
  InputBuilder a;
  a.Define(InputBuilder::Variable{.name = "x", .section = a.AddData(".nv.global", 4)});
  InputBuilder b;
  b.Declare("x");
  CHECK(MergeInputs({&a, &b}).Findings() ==
        R"(Memory space doesn't match for 'x' in 'b', first specified in 'a'
merge_elf failed
)");
}

TEST_CASE("Weak kernels must have parameters of one size", "[merge]") {
  const auto kernel = [](InputBuilder& input, std::uint64_t parameters) {
    const SymbolHandle k =
        input.Define(Function{.name = "k", .binding = format::kStbWeak, .kernel = true});
    input.AddData(".nv.constant0.k", parameters, k);
  };
  InputBuilder a;
  kernel(a, 0x160);
  InputBuilder b;
  kernel(b, 0x164);
  CHECK(MergeInputs({&a, &b}).Findings() ==
        R"(Duplicate weak parameter bank for 'k' is not the same size
merge_elf failed
)");
}

TEST_CASE("With nvlink's eyes a weak kernel has the parameters of a static one before it",
          "[merge]") {
  const auto module = [](std::uint8_t binding, std::uint64_t parameters) {
    InputBuilder input;
    const SymbolHandle k = input.Define(Function{.name = "k", .binding = binding, .kernel = true});
    input.AddData(".nv.constant0.k", parameters, k);
    return input.Build();
  };
  const ModuleRef local = module(format::kStbLocal, 0x160);
  const ModuleRef weak = module(format::kStbWeak, 0x164);
  using enum Compatibility;
  CHECK(MergeInputs({local, weak}, {.sm = 80, .compatibility = kNvlink}).Findings() ==
        R"(Duplicate weak parameter bank for 'k' is not the same size
merge_elf failed
)");
  CHECK(MergeInputs({weak, local}, {.sm = 80, .compatibility = kNvlink}).Findings().empty());
  CHECK(MergeInputs({local, weak}, {.sm = 80, .compatibility = kDevlink}).Findings().empty());
}

TEST_CASE("An alias shares the code of its function", "[merge]") {
  InputBuilder a;
  const SymbolHandle f = a.Define(Function{.name = "f"});
  a.DefineAlias("g", f);
  const Merged merged = MergeInputs({&a});
  CHECK(DumpFunctions(merged.program()) == R"(functions
  f text=.text.f registers=8
  g text=.text.f alias-of=f
)");
  CHECK(Pick(DumpSymbols(merged.program()), {"f", "g"}) ==
        R"(  f function global section=.text.f size=0x10 input=0 global-part
  g function global section=.text.f input=0 global-part
)");
}

}  // namespace
}  // namespace devlink::testing
