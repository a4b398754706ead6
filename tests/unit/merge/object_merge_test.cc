// SPDX-License-Identifier: Apache-2.0
//
// Variables in a merge, and the sections that hold them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/module.h"
#include "report/dump.h"
#include "support/catch.h"
#include "unit/merge/merged.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using internal::DumpProgram;
using internal::DumpRelocations;
using internal::DumpSections;
using internal::DumpSymbols;
using internal::KernelSelection;
using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

TEST_CASE("Data of one name is appended, aligned as each input needs it", "[merge]") {
  InputBuilder a;
  a.Define(Variable{.name = "x", .section = a.AddData(".nv.global.init", 5, kNoSymbol, 0xaa, 4)});
  InputBuilder b;
  const SectionHandle data = b.AddData(".nv.global.init", 8, kNoSymbol, 0xbb, 8);
  b.Define(Variable{.name = "y", .section = data, .value = 4});
  const Merged merged = MergeInputs({&a, &b});
  CHECK(Pick(DumpSections(merged.program()), {".nv.global.init"}) ==
        R"(  .nv.global.init global-init size=0x10 align=8 flags=0x3
    0x0: 0x5 bytes, aa aa aa aa aa
    0x8: 0x8 bytes, bb bb bb bb bb bb bb bb
)");
  CHECK(Pick(DumpSymbols(merged.program()), {"x", "y"}) ==
        R"(  x object global section=.nv.global.init space=global size=0x4 input=0 global-part
  y object global section=.nv.global.init space=global value=0xc size=0x4 input=1 global-part
)");
}

TEST_CASE("A later input defines a variable that an earlier one declares", "[merge]") {
  InputBuilder a;
  a.Define(Variable{.name = "x"});
  InputBuilder b;
  b.Define(Variable{.name = "x", .section = b.AddData(".nv.global", 4)});
  const Merged merged = MergeInputs({&a, &b});
  CHECK(Pick(DumpSymbols(merged.program()), {"x"}) ==
        R"(  x object global section=.nv.global space=global size=0x4 input=1 global-part
)");
}

// A weak `x` in both inputs.
Merged MergeTwoWeak(const std::string& section) {
  InputBuilder a;
  a.Define(Variable{.name = "x", .section = a.AddData(section, 4), .binding = format::kStbWeak});
  InputBuilder b;
  b.Define(Variable{.name = "x", .section = b.AddData(section, 4), .binding = format::kStbWeak});
  return MergeInputs({&a, &b});
}

TEST_CASE("Zeroed memory of a second weak copy does not take part", "[merge]") {
  const Merged merged = MergeTwoWeak(".nv.global");
  CHECK(Pick(DumpSections(merged.program()), {".nv.global"}) ==
        R"(  .nv.global global size=0x4 align=4 flags=0x3
)");
  CHECK(Pick(DumpSymbols(merged.program()), {"x"}) ==
        R"(  x object weak section=.nv.global space=global size=0x4 input=0
)");
}

TEST_CASE("Bytes of a second weak copy stay, unused", "[merge]") {
  const Merged merged = MergeTwoWeak(".nv.global.init");
  CHECK(Pick(DumpSections(merged.program()), {".nv.global.init"}) ==
        R"(  .nv.global.init global-init size=0x8 align=4 flags=0x3
    0x0: 0x4 bytes, 22 22 22 22
    0x4: 0x4 bytes, 22 22 22 22
)");
  CHECK(Pick(DumpSymbols(merged.program()), {"x"}) ==
        R"(  x object weak section=.nv.global.init space=global size=0x4 input=0
)");
}

TEST_CASE("Pointers in a second weak copy go", "[merge]") {
  const auto table = [](InputBuilder& input) {
    const SectionHandle data = input.AddData(".nv.global.init", 8);
    input.Define(
        Variable{.name = "table", .section = data, .binding = format::kStbWeak, .size = 8});
    input.Relocate(data, 0, kAbs64, input.Define(Variable{.name = "target"}));
  };
  InputBuilder a;
  table(a);
  InputBuilder b;
  table(b);
  CHECK(DumpRelocations(MergeInputs({&a, &b}).program()) == R"(relocations
  .nv.global.init 64 target list=.rel.nv.global.init
)");
}

// Declarations of `x`, one in each input.
struct Declaration {
  enum Kind { kExtern, kCommon, kMemory, kInitialised } kind;
  std::uint64_t size;
  std::uint8_t binding = format::kStbGlobal;
};

std::string FindingsOf(const std::vector<Declaration>& declarations) {
  std::vector<InputBuilder> inputs(declarations.size());
  std::vector<ModuleRef> modules;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Declaration& declared = declarations[i];
    Variable x{.name = "x", .binding = declared.binding, .size = declared.size};
    if (declared.kind == Declaration::kCommon) {
      x.value = 4;
      x.common = true;
    } else if (declared.kind != Declaration::kExtern) {
      const bool zero = declared.kind == Declaration::kMemory;
      x.section = inputs[i].AddData(zero ? ".nv.global" : ".nv.global.init", declared.size);
    }
    inputs[i].Define(x);
    modules.push_back(inputs[i].Build());
  }
  std::string out = MergeInputs(modules).Findings();
  constexpr std::string_view kEnd = "merge_elf failed\n";
  return out.ends_with(kEnd) ? out.substr(0, out.size() - kEnd.size()) : out;
}

TEST_CASE("Messages name the input that mentions a variable first, and of common ones the largest",
          "[merge]") {
  constexpr auto kExtern = Declaration::kExtern;
  constexpr auto kCommon = Declaration::kCommon;
  constexpr auto kMemory = Declaration::kMemory;
  constexpr auto kInit = Declaration::kInitialised;
  const auto size = [](char second, char first) {
    return std::string("Size doesn't match for 'x' in '") + second + "', first specified in '" +
           first + "'\n";
  };
  const auto twice = [](char second, char first) {
    return std::string("Multiple definition of 'x' in '") + second + "', first defined in '" +
           first + "'\n";
  };
  CHECK(FindingsOf({{kExtern, 0}, {kMemory, 4}, {kMemory, 8}}) == size('c', 'a') + twice('c', 'a'));
  CHECK(FindingsOf({{kMemory, 4, format::kStbWeak}, {kInit, 4}, {kInit, 8}}) ==
        size('c', 'a') + twice('c', 'a'));
  CHECK(FindingsOf({{kCommon, 4}, {kCommon, 8}, {kMemory, 4}}) == size('c', 'b'));
  CHECK(FindingsOf({{kCommon, 8}, {kCommon, 4}, {kMemory, 4}}) == size('c', 'a'));
  CHECK(FindingsOf({{kExtern, 4}, {kCommon, 4}, {kMemory, 8}}) == size('c', 'b'));
  CHECK(FindingsOf({{kCommon, 4}, {kInit, 8}, {kExtern, 4}}) == size('c', 'b'));
}

TEST_CASE("A common variable that was defined is one that is defined", "[merge]") {
  constexpr auto kCommon = Declaration::kCommon;
  constexpr auto kMemory = Declaration::kMemory;
  constexpr auto kInit = Declaration::kInitialised;
  constexpr std::string_view kTwice = "Multiple definition of 'x' in 'c', first defined in 'a'\n";
  CHECK(FindingsOf({{kCommon, 4}, {kMemory, 4}, {kInit, 4}}) == kTwice);
  CHECK(FindingsOf({{kCommon, 4}, {kMemory, 4}, {kMemory, 4}}) == kTwice);
  CHECK(FindingsOf({{kCommon, 4}, {kMemory, 4}, {kCommon, 4}}) == kTwice);
  CHECK(FindingsOf({{kCommon, 4}, {kMemory, 4}, {kCommon, 8}}) ==
        "Size doesn't match for 'x' in 'c', first specified in 'a'\n" + std::string(kTwice));
  CHECK(FindingsOf({{kCommon, 4}, {kMemory, 4}, {kMemory, 4, format::kStbWeak}}).empty());
}

TEST_CASE("Common variables take the largest size and lie at the end, last one first", "[merge]") {
  InputBuilder a;
  a.Define(Variable{.name = "x", .size = 4, .value = 4, .common = true});
  a.Define(Variable{.name = "y", .size = 8, .value = 8, .common = true});
  a.Define(Variable{.name = "z", .section = a.AddData(".nv.global", 2), .size = 2});
  InputBuilder b;
  b.Define(Variable{.name = "x", .size = 12, .value = 4, .common = true});
  const Merged merged = MergeInputs({&a, &b});
  CHECK(Pick(DumpSections(merged.program()), {".nv.global"}) ==
        R"(  .nv.global global size=0x1c align=8 flags=0x3
)");
  CHECK(
      Pick(DumpSymbols(merged.program()), {"x", "y", "z"}) ==
      R"(  x object global section=.nv.global space=global value=0x10 size=0xc align=4 input=1 global-part
  y object global section=.nv.global space=global value=0x8 size=0x8 align=8 input=0 global-part
  z object global section=.nv.global space=global size=0x2 input=0 global-part
)");
  CHECK(Pick(DumpProgram(merged.program()), {"common"}) == R"(common symbols
  x
  y
)");
}

TEST_CASE("An initialised definition ends a common variable", "[merge]") {
  InputBuilder a;
  a.Define(Variable{.name = "x", .value = 4, .common = true});
  InputBuilder b;
  b.Define(Variable{.name = "x", .section = b.AddData(".nv.global.init", 8), .size = 8});
  const Merged merged = MergeInputs({&a, &b});
  CHECK(
      Pick(DumpSymbols(merged.program()), {"x"}) ==
      R"(  x object global section=.nv.global.init space=global size=0x8 align=4 input=1 global-part
)");
}

TEST_CASE("A common variable must not be larger than its initialisation", "[merge]") {
  InputBuilder a;
  a.Define(Variable{.name = "x", .size = 12, .value = 4, .common = true});
  InputBuilder b;
  b.Define(Variable{.name = "x", .section = b.AddData(".nv.global.init", 8), .size = 8});
  CHECK(MergeInputs({&a, &b}).Findings() ==
        R"(Common symbol 'x' in file 'a' has larger size than initialization
merge_elf failed
)");
}

// `x` as two inputs mention it.
std::string FindingsOf(const Variable& first, const Variable& second) {
  InputBuilder a;
  InputBuilder b;
  a.Define(first);
  b.Define(second);
  return MergeInputs({&a, &b}).Findings();
}

TEST_CASE("Two mentions of a variable must agree", "[merge]") {
  const Variable x = {.name = "x"};
  Variable other = x;
  CHECK(FindingsOf(x, other).empty());
  other.size = 8;
  CHECK(FindingsOf(x, other) == R"(Size doesn't match for 'x' in 'b', first specified in 'a'
merge_elf failed
)");
  other = x;
  other.space = format::kStoConstant;
  CHECK(FindingsOf(x, other) ==
        R"(Memory space doesn't match for 'x' in 'b', first specified in 'a'
merge_elf failed
)");
  other = x;
  other.other = format::kStoManaged;
  CHECK(FindingsOf(x, other) ==
        R"(Managed attribute doesn't match for 'x' in 'b', first specified in 'a'
merge_elf failed
)");
}

TEST_CASE("Two strong definitions of a variable are an error", "[merge]") {
  InputBuilder a;
  a.Define(Variable{.name = "x", .section = a.AddData(".nv.global", 4)});
  InputBuilder b;
  b.Define(Variable{.name = "x", .section = b.AddData(".nv.global", 4)});
  CHECK(MergeInputs({&a, &b}).Findings() ==
        R"(Multiple definition of 'x' in 'b', first defined in 'a'
merge_elf failed
)");
}

TEST_CASE("Local variables of one name are two", "[merge]") {
  const auto local = [](InputBuilder& input) {
    input.Define(Variable{
        .name = "x", .section = input.AddData(".nv.global", 4), .binding = format::kStbLocal});
  };
  InputBuilder a;
  local(a);
  InputBuilder b;
  local(b);
  CHECK(Pick(DumpSymbols(MergeInputs({&a, &b}).program()), {"x", "x#2"}) ==
        R"(  x object local section=.nv.global space=global size=0x4 input=0
  x#2 object local section=.nv.global space=global value=0x4 size=0x4 input=1
)");
}

TEST_CASE("extern __shared__ makes room for all files and lies nowhere yet", "[merge]") {
  InputBuilder a;
  a.Define(Variable{.name = "dynamic", .space = format::kStoShared, .size = 0});
  const Merged merged = MergeInputs({&a});
  CHECK(Pick(DumpSections(merged.program()), {".nv_debug.shared"}) ==
        R"(  .nv_debug.shared module-shared size=0x0 align=16 flags=0x3
)");
  CHECK(Pick(DumpSymbols(merged.program()), {"dynamic"}) ==
        R"(  dynamic object global undefined space=shared input=0 global-part external-shared
)");
  CHECK(Pick(DumpProgram(merged.program()), {"shared"}) == R"(shared definitions
  dynamic
)");
}

TEST_CASE(
    "With -r nvlink makes memory of kernels that refer to extern __shared__ and are not wanted",
    "[merge]") {
  InputBuilder a;
  const auto kernel = [&](const std::string& name) {
    return a.Define(Function{.name = name, .kernel = true});
  };
  const SymbolHandle x = a.Define(Variable{.name = "x", .space = format::kStoShared, .size = 0});
  a.Relocate(a.TextOf(kernel("k")), 8, kAbs64, x);
  kernel("l");
  const ModuleRef input = a.Build();
  const auto sections = [&](Compatibility compatibility) {
    const Merged merged = MergeInputs({input}, {.sm = 80,
                                                .kernels = KernelSelection::Containing({"none"}),
                                                .relocatable = true,
                                                .compatibility = compatibility});
    return Pick(DumpSections(merged.program()), {".nv.shared.k", ".nv.shared.l"});
  };
  CHECK(sections(Compatibility::kDevlink).empty());
  CHECK(sections(Compatibility::kNvlink) ==
        R"(  .nv.shared.k entry-shared size=0x0 align=1 flags=0x43 owner=.text.k function=k late
)");
}

TEST_CASE("A shared variable brings its alignment, not a place", "[merge]") {
  InputBuilder a;
  a.Define(Variable{.name = "s",
                    .section = a.AddData(".nv_debug.shared", 0),
                    .space = format::kStoShared,
                    .size = 24,
                    .value = 8});
  const Merged merged = MergeInputs({&a});
  CHECK(
      Pick(DumpSymbols(merged.program()), {"s"}) ==
      R"(  s object global section=.nv_debug.shared space=shared size=0x18 align=8 input=0 global-part
)");
  CHECK(merged.program().module_shared_align == 8);
}

// Two weak bodies of `f` with constants of their own.
struct TwoBanks {
  TwoBanks(std::uint32_t first_registers, std::uint32_t second_registers,
           std::uint8_t second_binding = format::kStbWeak) {
    Fill(a, first_registers, format::kStbWeak, 0xaa);
    Fill(b, second_registers, second_binding, 0xbb);
  }
  static void Fill(InputBuilder& input, std::uint32_t registers, std::uint8_t binding,
                   std::uint8_t fill) {
    const SymbolHandle f =
        input.Define(Function{.name = "f", .binding = binding, .registers = registers});
    input.AddConstants(f, 8, fill, 8);
  }
  InputBuilder a;
  InputBuilder b;
};

TEST_CASE("Constants of a discarded copy stay behind those of the body that stays", "[merge]") {
  TwoBanks banks(8, 8);
  CHECK(
      Pick(DumpSections(MergeInputs({&banks.a, &banks.b}).program()), {".nv.constant2.f"}) ==
      R"(  .nv.constant2.f function-constants size=0x10 align=8 flags=0x42 owner=.text.f function=f bank=2
    0x0: 0x8 bytes, aa aa aa aa aa aa aa aa
    0x8: 0x8 bytes, bb bb bb bb bb bb bb bb
)");
}

TEST_CASE("Constants of a replaced body give way to those of the new one", "[merge]") {
  TwoBanks fewer(8, 7);
  CHECK(
      Pick(DumpSections(MergeInputs({&fewer.a, &fewer.b}).program()), {".nv.constant2.f"}) ==
      R"(  .nv.constant2.f function-constants size=0x8 align=8 flags=0x42 owner=.text.f function=f bank=2
    0x0: 0x8 bytes, bb bb bb bb bb bb bb bb
)");
  TwoBanks strong(8, 8, format::kStbGlobal);
  CHECK(
      Pick(DumpSections(MergeInputs({&strong.a, &strong.b}).program()), {".nv.constant2.f"}) ==
      R"(  .nv.constant2.f function-constants size=0x8 align=8 flags=0x42 owner=.text.f function=f bank=2
    0x0: 0x8 bytes, bb bb bb bb bb bb bb bb
)");
}

TEST_CASE("A texture reference is one global symbol", "[merge]") {
  const auto refer = [](InputBuilder& input) {
    input.Define(Variable{.name = "t", .space = 0, .size = 0, .type = format::kSttCudaTexture});
  };
  InputBuilder a;
  refer(a);
  InputBuilder b;
  refer(b);
  CHECK(Pick(DumpSymbols(MergeInputs({&a, &b}).program()), {"t", "t#2"}) ==
        R"(  t texture global undefined input=0 global-part
)");
}

// Of one input, with variables of those sizes.
void AddReserved(InputBuilder& input, const std::string& name, std::uint64_t size) {
  input.Define(Variable{.name = name,
                        .section = input.AddData(".nv.shared.reserved.0", 0),
                        .space = format::kStoReservedShared,
                        .size = size,
                        .value = 16});
}

// Of two copies one stays, which only those of two inputs promise to be equal.
TEST_CASE("An input that has two definitions of a name is refused", "[merge]") {
  constexpr std::array<std::pair<std::uint8_t, std::uint8_t>, 3> kBindings = {
      {{format::kStbWeak, format::kStbWeak},
       {format::kStbWeak, format::kStbGlobal},
       {format::kStbGlobal, format::kStbWeak}}};
  for (const char* section : {".nv.global.init", ".nv.global"}) {
    for (const auto& [first_binding, second_binding] : kBindings) {
      for (const char* second : {"x", "y"}) {
        InputBuilder a;
        const SectionHandle data = a.AddData(section, 8);
        a.Define(Variable{.name = "x", .section = data, .binding = first_binding});
        a.Define(Variable{.name = second, .section = data, .binding = second_binding, .value = 4});
        const Merged merged = MergeInputs({&a});
        CAPTURE(section, int{first_binding}, int{second_binding}, second);
        CHECK(merged.result.ok() == (*second == 'y'));
        CHECK(merged.Findings() ==
              (*second == 'y' ? "" : "Input file 'a' is damaged\nmerge_elf failed\n"));
      }
    }
  }
}

TEST_CASE("Reserved shared memory is no larger than a kernel's", "[merge]") {
  constexpr std::uint64_t kMost = 0xc000;
  InputBuilder a;
  AddReserved(a, "x", kMost - 64);
  InputBuilder b;
  AddReserved(b, "y", 64);
  InputBuilder c;
  AddReserved(c, "z", 1);
  const std::vector<ModuleRef> modules = {a.Build(), b.Build(), c.Build()};
  CHECK(MergeInputs(std::vector(modules.begin(), modules.end() - 1)).result.ok());
  const Merged many = MergeInputs(modules);
  CHECK(many.result.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(many.Findings() == "Input file 'c' is damaged\nmerge_elf failed\n");
  CHECK(many.diagnostics[0].notes.front().find("'z' makes the reserved shared memory larger") == 0);
}

TEST_CASE("Tensor memory is allocated in one way", "[merge]") {
  const std::string old_way = "__nv_reservedSMEM_allocation_mask";
  const std::string new_way = "__nv_reservedSMEM_tcgen05_partition";
  const auto findings = [](const std::string& first, const std::string& second) {
    InputBuilder a;
    AddReserved(a, first, 4);
    InputBuilder b;
    AddReserved(b, second, 4);
    return MergeInputs({&a, &b}).Findings();
  };
  const std::string_view refusal =
      "Object 'b' cannot be linked due to version mismatch. Objects using tcgen05 in 12.x cannot "
      "be linked with 13.0 or later, they must be rebuilt with latest compiler\nmerge_elf "
      "failed\n";
  CHECK(findings(old_way, new_way) == refusal);
  CHECK(findings(new_way, old_way) == refusal);
  CHECK(findings(old_way, "__nv_reservedSMEM_allocation_phase").empty());
}

// Up to CUDA 12.6 the assembler leaves it 0 for sm_90.
TEST_CASE("Machine code says where the system's part of shared memory ends", "[merge]") {
  for (const std::uint64_t stated : {0U, 0x400U}) {
    InputBuilder a(90);
    a.Define(Variable{
        .name = ".nv.reservedSmem.cap", .space = 0, .binding = format::kStbWeak, .value = stated});
    const Merged merged = MergeInputs({&a}, {.sm = 90});
    const auto& symbols = merged.program().symbols;
    const auto cap = std::ranges::find(symbols, ".nv.reservedSmem.cap", &internal::Symbol::name);
    REQUIRE(cap != symbols.end());
    CHECK(cap->value == 0x400);
  }
}

}  // namespace
}  // namespace devlink::testing
