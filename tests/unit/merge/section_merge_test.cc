// SPDX-License-Identifier: Apache-2.0
//
// What a merge does with all that is neither function nor variable.
#include <string>
#include <utility>

#include "format/nv_info.h"
#include "report/dump.h"
#include "support/catch.h"
#include "unit/merge/merged.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using internal::DumpCalls;
using internal::DumpFileParts;
using internal::DumpFunctions;
using internal::DumpNameOrder;
using internal::DumpRecords;
using internal::DumpRelocations;
using internal::DumpSections;
using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

TEST_CASE("Debug records are appended, and references to them are moved", "[merge]") {
  const auto fill = [](InputBuilder& input, std::uint8_t byte) {
    const SectionHandle lines = input.AddData(".debug_line", 8, kNoSymbol, byte, 1);
    const SectionHandle info = input.AddData(".debug_info", 8, kNoSymbol, byte, 1);
    input.Relocate(info, 0, kAbs64, input.SectionSymbolOf(lines));
  };
  InputBuilder a;
  fill(a, 0xaa);
  InputBuilder b;
  fill(b, 0xbb);
  const Merged merged = MergeInputs({&a, &b});
  CHECK(Pick(DumpSections(merged.program()), {".debug_line", ".debug_info"}) ==
        R"(  .debug_line debug size=0x10 align=1 flags=0x0
    0x0: 0x8 bytes, aa aa aa aa aa aa aa aa
    0x8: 0x8 bytes, bb bb bb bb bb bb bb bb
  .debug_info debug size=0x10 align=1 flags=0x0
    0x0: 0x8 bytes, aa aa aa aa aa aa aa aa
    0x8: 0x8 bytes, bb bb bb bb bb bb bb bb
)");
  // The place of the second contribution needs an addend.
  CHECK(DumpRelocations(merged.program()) == R"(relocations
  .debug_info 64 .debug_line list=.rel.debug_info
  .debug_info+0x8 64 .debug_line+0x8 list=.rela.debug_info
)");
}

TEST_CASE("Addends make relocations of the second kind", "[merge]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Declare("f");
  a.Relocate(a.TextOf(k), 0, kAbs32Lo, f);
  a.Relocate(a.TextOf(k), 8, kAbs32Lo, f, -4);
  const Merged merged = MergeInputs({&a});
  CHECK(DumpRelocations(merged.program()) == R"(relocations
  .text.k ABS32_LO_32 f list=.rel.text.k
  .text.k+0x8 ABS32_LO_32 f-0x4 list=.rela.text.k
)");
}

TEST_CASE("Names of relocation sections that never exist are entered", "[merge]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Declare("f");
  a.Relocate(a.TextOf(k), 0, kAbs32Lo, f, 4);
  a.Relocate(a.TextOf(k), 8, kAbs32Lo, f, 0);  // would need none
  const Merged merged = MergeInputs({&a});
  CHECK(DumpNameOrder(merged.program()) == R"(names in .shstrtab
  .shstrtab
  .strtab
  .symtab
  .symtab_shndx
  .note.nv.tkinfo
  .note.nv.cuinfo
  .nv.info
  .text.k
  .nv.info.k
  .nv.shared.k
  .rela.text.k
  .rel.text.k
names in .strtab
  .shstrtab
  .strtab
  .symtab
  .symtab_shndx
  .note.nv.tkinfo
  .note.nv.cuinfo
  .nv.info
  .text.k
  .nv.info.k
  .nv.shared.k
  .rela.text.k
  .rel.text.k
)");
}

TEST_CASE("Constants point to the copy that stays, where nvlink leaves them null", "[merge]") {
  const bool has_own_copy = GENERATE(false, true);  // of the constant, which then goes
  const auto compatibility = GENERATE(Compatibility::kDevlink, Compatibility::kNvlink);
  const Function function = {.name = "f", .binding = format::kStbWeak};
  InputBuilder a;
  a.Define(function);
  if (has_own_copy) {
    a.Define(Variable{.name = "table",
                      .section = a.AddData(".nv.constant3", 8),
                      .space = format::kStoConstant,
                      .binding = format::kStbWeak,
                      .size = 8});
  }
  InputBuilder b;
  const SymbolHandle f = b.Define(function);
  const SectionHandle constants = b.AddData(".nv.constant3", 8);
  b.Define(Variable{.name = "table",
                    .section = constants,
                    .space = format::kStoConstant,
                    .binding = format::kStbWeak,
                    .size = 8});
  b.Relocate(constants, 0, kAbs64, f);
  const Merged merged = MergeInputs({&a, &b}, {.sm = 80, .compatibility = compatibility});
  const internal::Program& program = merged.program();
  const bool is_kept = !has_own_copy && compatibility == Compatibility::kDevlink;
  REQUIRE(program.relocations.size() == (is_kept ? 1 : 0));
  REQUIRE(program.second_copy_pointers.count == program.relocations.size());
  if (!is_kept) return;
  CHECK(program.symbols[program.relocations[0].symbol].name == "f");
  CHECK(program.second_copy_pointers.first == "f");
}

TEST_CASE("The call graph's lists are kept in order of arrival", "[merge]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  const SymbolHandle g = a.Define(Function{.name = "g"});
  a.AddCall(k, f);
  a.AddCall(k, g);
  a.AddAddressTaker(k, g);
  a.TakeAddress(g, "i_i");
  a.CallIndirectly(k, "i_i");
  InputBuilder b;
  b.TakeAddress(b.Declare("g"), "i_i");  // once is enough
  b.CallIndirectly(b.Define(Function{.name = "h"}), "v_");
  const Merged merged = MergeInputs({&a, &b});
  CHECK(DumpCalls(merged.program()) == R"(calls
  k -> f
  k -> g
indirect callers
  k prototype=i_i
  h prototype=v_
addresses taken
  g prototype=i_i
address takers
  k -> g
)");
  CHECK(merged.program().prototypes == std::string("i_i\0v_\0", 7));
}

TEST_CASE("A function keeps the first prototype that is stated", "[merge]") {
  InputBuilder a;
  a.StatePrototype(a.Define(Function{.name = "f"}), "i_i");
  InputBuilder b;
  b.StatePrototype(b.Declare("f"), "i_i");
  CHECK(Pick(DumpFunctions(MergeInputs({&a, &b}).program()), {"f"}) ==
        R"(  f text=.text.f registers=8 prototype=i_i
)");
}

TEST_CASE("Inputs must agree on how a function is called", "[merge]") {
  InputBuilder a;
  a.StatePrototype(a.Define(Function{.name = "f"}), "i_i");
  InputBuilder b;
  b.StatePrototype(b.Declare("f"), "v_");
  CHECK(MergeInputs({&a, &b}).Findings() ==
        R"(Prototype doesn't match for 'f' in 'b', first defined in 'a'
merge_elf failed
)");
}

TEST_CASE("Code may take an address as that of another kind of function, and calls count as that",
          "[merge]") {
  const auto merge = [](bool call_as_first) {
    InputBuilder a;
    a.StatePrototype(a.Define(Function{.name = "f"}), "i_i");
    InputBuilder b;
    b.TakeAddress(b.Declare("f"), "l_l");
    InputBuilder c;
    c.TakeAddress(c.Declare("f"), "v_");
    InputBuilder d;
    d.StatePrototype(d.Declare("f"), call_as_first ? "i_i" : "v_");
    return MergeInputs({&a, &b, &c, &d});
  };
  CHECK(Pick(DumpCalls(merge(false).program()), {"addresses"}) ==
        "addresses taken\n  f prototype=v_\n");
  CHECK(merge(true).Findings() ==
        R"(Prototype doesn't match for 'f' in 'd', first defined in 'a'
merge_elf failed
)");
}

TEST_CASE(
    "The address of a kernel counts from a discarded copy on, with what one that stays states",
    "[merge]") {
  const auto merge = [](bool replaced) {
    InputBuilder a;
    a.Define(Function{.name = "k", .binding = format::kStbWeak, .kernel = true});
    InputBuilder b;
    InputBuilder c;
    for (const auto& [input, registers] : {std::pair(&b, 9U), std::pair(&c, replaced ? 7U : 9U)}) {
      const SymbolHandle k = input->Define(Function{
          .name = "k", .binding = format::kStbWeak, .kernel = true, .registers = registers});
      const std::string user = input == &b ? "b" : "c";
      input->AddAddressTaker(input->Define(Function{.name = user}), k);
      input->TakeAddress(k, "");
    }
    return MergeInputs({&a, &b, &c});
  };
  for (const bool replaced : {false, true}) {
    const Merged merged = merge(replaced);
    CHECK(merged.program().prototypes.size() == (replaced ? 1 : 0));
    REQUIRE(merged.program().addresses_taken.size() == 1);
    CHECK(merged.program().addresses_taken[0].prototype == (replaced ? 1 : 0));
  }
}

TEST_CASE("The address of a discarded copy counts where a function takes it", "[merge]") {
  const auto second = [](InputBuilder& input, bool by_function) {
    const SymbolHandle f =
        input.Define(Function{.name = "f", .binding = format::kStbWeak, .registers = 9});
    const SymbolHandle k = input.DefineKernel("k");
    if (by_function) input.AddAddressTaker(k, f);
    input.TakeAddress(f, "i_i");
  };
  for (const bool by_function : {false, true}) {
    InputBuilder a;
    a.StatePrototype(a.Define(Function{.name = "f", .binding = format::kStbWeak}), "v_");
    InputBuilder b;
    second(b, by_function);
    const Merged merged = MergeInputs({&a, &b});
    CHECK(Pick(DumpCalls(merged.program()), {"addresses"}) ==
          (by_function ? "addresses taken\n  f prototype=v_\n" : ""));
  }
}

// As compilers of CUDA 12 and 13 have them of system functions; nvlink's output has the last one.
TEST_CASE("Prototypes are compared up to the bar", "[merge]") {
  const auto merged_as = [](const std::string& first, const std::string& second) {
    InputBuilder a;
    a.StatePrototype(a.Declare("f"), first);
    InputBuilder b;
    b.StatePrototype(b.Declare("f"), second);
    const Merged merged = MergeInputs({&a, &b});
    if (!merged.Findings().empty()) return merged.Findings();
    const internal::Program& program = merged.program();
    return std::string(program.prototypes.c_str() + program.functions[0].prototype - 1);
  };
  CHECK(merged_as("#vl|10p4", "#vl|12p4") == "#vl|12p4");
  CHECK(merged_as("#vl|12p4", "#vl") == "#vl");
  CHECK(merged_as("#vl", "#vl|12p4") == "#vl|12p4");
  CHECK(merged_as("#vl|12p4", "#vi|12p4").find("Prototype doesn't match") != std::string::npos);
}

TEST_CASE("An address that a function takes counts without a list of its own", "[merge]") {
  InputBuilder a;
  const SymbolHandle f = a.Define(Function{.name = "f"});
  a.AddAddressTaker(a.DefineKernel("k"), f);
  const Merged merged = MergeInputs({&a});
  CHECK(Pick(DumpCalls(merged.program()), {"addresses"}) == "addresses taken\n  f prototype=-\n");
}

TEST_CASE("Records name the output's symbols, in order of arrival", "[merge]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Declare("f");
  a.AddModuleRecord(format::kAttrFrameSize, k, 16);
  a.AddRecord(k, format::kInfoByteValue, format::kAttrNumBarriers, 2);
  a.AddRecord(k, format::kInfoNoValue, format::kAttrCtaidzUsed, 0);
  a.AddExterns(k, {f});
  InputBuilder b;
  b.Define(Function{.name = "f", .registers = 20});
  const Merged merged = MergeInputs({&a, &b});
  CHECK(DumpRecords(merged.program()) == R"(records of .nv.info
  REGCOUNT k 0x8
  FRAME_SIZE k 0x10
  REGCOUNT f 0x14
records of .nv.info.k
  NUM_BARRIERS value=2
  CTAIDZ_USED
  EXTERNS f
)");
}

TEST_CASE("Records of a discarded copy go", "[merge]") {
  InputBuilder a;
  a.Define(Function{.name = "f", .binding = format::kStbWeak, .registers = 8});
  InputBuilder b;
  const SymbolHandle f =
      b.Define(Function{.name = "f", .binding = format::kStbWeak, .registers = 9});
  b.AddRecord(f, format::kInfoByteValue, format::kAttrNumBarriers, 1);
  CHECK(DumpRecords(MergeInputs({&a, &b}).program()) == R"(records of .nv.info
  REGCOUNT f 0x8
)");
}

TEST_CASE("Relocations of a discarded copy's debug records go, but for .debug_info", "[merge]") {
  const auto fill = [](InputBuilder& input) {
    const SymbolHandle f = input.Define(Function{.name = "f", .binding = format::kStbWeak});
    for (const char* name : {".debug_frame", ".debug_info"}) {
      input.Relocate(input.AddData(name, 8, kNoSymbol, 0, 1), 0, kAbs64, f);
    }
  };
  InputBuilder a;
  fill(a);
  InputBuilder b;
  fill(b);
  CHECK(DumpRelocations(MergeInputs({&a, &b}).program()) == R"(relocations
  .debug_frame 64 f list=.rel.debug_frame
  .debug_info 64 f list=.rel.debug_info
  .debug_info+0x8 64 f list=.rel.debug_info
)");
}

// Tags of `.nv.compat` (docs/cubin-format.md, "Compatibility record").
TEST_CASE("Compatibility records are joined, and what an input lacks is added", "[merge]") {
  InputBuilder a(90);
  a.AddCompat(format::kInfoByteValue, 0x02, 1);
  a.AddCompat(format::kInfoByteValue, 0x09, 1);
  a.AddCompat(format::kInfoByteValue, 0x0c, 0);
  InputBuilder b(90);
  b.AddCompat(format::kInfoByteValue, 0x02, 3);
  b.AddCompat(format::kInfoByteValue, 0x03, 1);  // a has none, which to 13.0 means 3
  const Merged merged = MergeInputs({&a, &b}, {.sm = 90});
  CHECK(Pick(DumpFileParts(merged.file()), {"compat"}) == R"(compat
  0x0: 0x10 bytes, 02 09 00 00 02 02 03 00 02 03 03 00 02 05 00 00
  0x10: 0x8 bytes, 02 06 01 00 03 07 00 01
)");
}

TEST_CASE("From 13.1 on later inputs add compatibility records", "[merge]") {
  InputBuilder a(90);
  a.AddCompat(format::kInfoByteValue, 0x02, 1);
  InputBuilder b(90);
  b.AddCompat(format::kInfoByteValue, 0x03, 1);
  const auto profile = ToolkitProfile::ForRelease("13.1");
  REQUIRE(profile.ok());
  const Merged merged = MergeInputs({&a, &b}, {.sm = 90, .profile = *profile});
  CHECK(Pick(DumpFileParts(merged.file()), {"compat"}) == R"(compat
  0x0: 0x8 bytes, 02 02 01 00 02 03 01 00
)");
}

TEST_CASE("The note has the lowest virtual architecture", "[merge]") {
  InputBuilder a(80);
  InputBuilder b(75);
  CHECK(Pick(DumpFileParts(MergeInputs({&a, &b}).file()), {"cuda"}) == R"(cuda note
  0x0: 0x10 bytes, 0c 00 00 00 08 00 00 00 e8 03 00 00 4e 56 49 44
  0x10: 0x10 bytes, 49 41 20 43 6f 72 70 00 02 00 4b 00 82 00 00 00
)");
}

TEST_CASE("Without any input the note describes the target", "[merge]") {
  const Merged merged = MergeInputs(std::vector<ModuleRef>(), {.sm = 90});
  CHECK(Pick(DumpFileParts(merged.file()), {"cuda", "compat"}) == R"(cuda note
  0x0: 0x10 bytes, 0c 00 00 00 08 00 00 00 e8 03 00 00 4e 56 49 44
  0x10: 0x10 bytes, 49 41 20 43 6f 72 70 00 02 00 5a 00 82 00 00 00
compat
  0x0: 0x4 bytes, 02 09 00 00
)");
}

}  // namespace
}  // namespace devlink::testing
