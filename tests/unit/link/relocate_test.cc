// SPDX-License-Identifier: Apache-2.0
#include "link/relocate.h"

#include "report/dump.h"
#include "support/catch.h"
#include "unit/link/linked.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

// Types by what becomes of them (format/relocations.cc).
constexpr std::uint32_t kG32 = 0x03;         // kept
constexpr std::uint32_t kConstField = 0x18;  // stored with the bank

std::string RelocatedOf(const Linked& linked) {
  return internal::DumpRelocated(linked.passes.program, linked.passes.relocated);
}

// A kernel to refer from.
struct Kernel {
  Kernel() : k(input.DefineKernel("k")), text(input.TextOf(k)) {}
  InputBuilder input;
  SymbolHandle k;
  SectionHandle text;
};

TEST_CASE("Relocations to functions and global variables stay for the loader", "[relocate]") {
  Kernel a;
  const SymbolHandle f = a.input.Define(Function{.name = "f"});
  a.input.AddCall(a.k, f);
  const SymbolHandle x =
      a.input.Define(Variable{.name = "x", .section = a.input.AddData(".nv.global", 4)});
  a.input.Relocate(a.text, 0, kAbs32Lo, f);
  a.input.Relocate(a.text, 8, kAbs64, x, 12);
  CHECK(RelocatedOf(Linked({&a.input})) == R"(stored
kept
  .rela.text.k+0x8 64 x addend=0xc
  .rel.text.k ABS32_LO_32 f
)");
}

// The loader's tables have names in the output and no symbols. What code says of them goes, as with
// nvlink; data would refer to nothing.
TEST_CASE("References to the loader's tables go with their symbols", "[relocate]") {
  for (const std::string name : {"__UFT", "__UFT_OFFSET", "__UDT_END", "__UFTOFFSET"}) {
    for (const bool in_code : {true, false}) {
      Kernel a;
      const SymbolHandle table = a.input.Define(Variable{.name = name});
      const SectionHandle data = a.input.AddData(".nv.global.init", 16);
      a.input.Define(Variable{.name = "x", .section = data});
      a.input.Relocate(in_code ? a.text : data, 0, in_code ? kAbs32Lo : kAbs64, table);
      const Linked linked({&a.input});
      CAPTURE(name, in_code);
      const bool is_table = name != "__UFTOFFSET";
      CHECK(linked.passes.relocated.kept.empty() == is_table);
      CHECK(linked.passes.relocated.refused.empty() ==
            (in_code || name == "__UFT_OFFSET" || !is_table));
    }
  }
}

TEST_CASE("Shared variables are stored: their place in what refers to them", "[relocate]") {
  Kernel a;
  const SectionHandle shared = a.input.AddData(".nv.shared.k", 0, a.k);
  a.input.Define(Variable{
      .name = "first", .section = shared, .space = format::kStoShared, .size = 8, .value = 16});
  const SymbolHandle s = a.input.Define(
      Variable{.name = "s", .section = shared, .space = format::kStoShared, .size = 4, .value = 4});
  a.input.Relocate(a.text, 0, kAbs32, s, 2);
  CHECK(RelocatedOf(Linked({&a.input})) == R"(stored
  .text.k bits=0:32 value=0xa
kept
)");
}

TEST_CASE("A relocation without addend adds to what the field holds", "[relocate]") {
  Kernel a;
  const SectionHandle bank = a.input.AddData(".nv.constant3", 0x20);
  const SymbolHandle c = a.input.Define(
      Variable{.name = "c", .section = bank, .space = format::kStoConstant, .value = 0x10});
  a.input.Relocate(a.text, 0, kAbs32, c);     // the code holds 11111111
  a.input.Relocate(a.text, 8, kAbs32, c, 1);  // which does not count here
  CHECK(RelocatedOf(Linked({&a.input})) == R"(stored
  .text.k+0x8 bits=0:32 value=0x11
  .text.k bits=0:32 value=0x11111121
kept
)");
}

TEST_CASE("Fields that name a constant bank get its number", "[relocate]") {
  Kernel a;
  const SectionHandle bank = a.input.AddData(".nv.constant3", 0x20);
  const SymbolHandle c = a.input.Define(
      Variable{.name = "c", .section = bank, .space = format::kStoConstant, .value = 0x10});
  a.input.Relocate(a.text, 0, kConstField, c, 0);
  CHECK(RelocatedOf(Linked({&a.input})) == R"(stored
  .text.k bits=28:14 value=0x4
  .text.k bits=42:4 value=0x3
  .text.k bits=26:1 value=0x0
kept
)");
}

TEST_CASE("Constants of a function are where its kernels have them", "[relocate]") {
  Kernel a;
  const SymbolHandle f = a.input.Define(Function{.name = "f"});
  a.input.AddCall(a.k, f);
  a.input.AddConstants(a.k, 0x10);
  const SymbolHandle c = a.input.AddConstants(f, 8);
  a.input.Relocate(a.input.TextOf(f), 0, kAbs32, c, 4);
  CHECK(RelocatedOf(Linked({&a.input})) == R"(stored
  .text.f bits=0:32 value=0x14
kept
)");
}

TEST_CASE("extern __shared__ begins behind the variables of the kernel", "[relocate]") {
  Kernel a;
  a.input.Define(Variable{.name = "s",
                          .section = a.input.AddData(".nv.shared.k", 0, a.k),
                          .space = format::kStoShared,
                          .size = 20,
                          .value = 4});
  const SymbolHandle dynamic =
      a.input.Define(Variable{.name = "dynamic", .space = format::kStoShared, .size = 0});
  a.input.Relocate(a.text, 0, kAbs32, dynamic, 0);
  CHECK(RelocatedOf(Linked({&a.input})) == R"(stored
  .text.k bits=0:32 value=0x20
kept
)");
}

TEST_CASE("A reference to an alias names its function", "[relocate]") {
  Kernel a;
  const SymbolHandle f = a.input.Define(Function{.name = "f"});
  const SymbolHandle alias = a.input.DefineAlias("alias", f);
  a.input.AddCall(a.k, alias);
  a.input.AddCall(a.k, f);
  a.input.Relocate(a.text, 0, kAbs32Lo, alias);
  CHECK(RelocatedOf(Linked({&a.input})) == R"(stored
kept
  .rel.text.k ABS32_LO_32 f
)");
}

TEST_CASE("Relocations of dead functions, and to them, go", "[relocate]") {
  Kernel a;
  const SymbolHandle dead = a.input.Define(Function{.name = "dead"});
  a.input.Relocate(a.input.TextOf(dead), 0, kAbs32Lo, a.k);
  a.input.Relocate(a.text, 0, kAbs32Lo, dead);
  CHECK(RelocatedOf(Linked({&a.input})) == R"(stored
kept
)");
}

TEST_CASE("Types that are not applied stay, and others are refused", "[relocate]") {
  Kernel a;
  const SectionHandle bank = a.input.AddData(".nv.constant3", 0x20);
  const SymbolHandle c =
      a.input.Define(Variable{.name = "c", .section = bank, .space = format::kStoConstant});
  a.input.Relocate(a.text, 0, kG32, c);
  a.input.Relocate(a.text, 8, kTexSlot, c);
  CHECK(RelocatedOf(Linked({&a.input})) == R"(stored
kept
  .rel.text.k G32 c
refused
  .text.k+0x8 TEX_SLOT c
)");
}

TEST_CASE("What is resolved is listed where that is wanted", "[relocate]") {
  Kernel a;
  const SectionHandle shared = a.input.AddData(".nv.shared.k", 0, a.k);
  const SymbolHandle s = a.input.Define(
      Variable{.name = "s", .section = shared, .space = format::kStoShared, .size = 4, .value = 4});
  const SymbolHandle begin =
      a.input.Define(Variable{.name = "begin", .space = format::kStoShared, .size = 0});
  const SymbolHandle f = a.input.Declare("f");
  a.input.AddCall(a.k, f);
  a.input.Relocate(a.text, 0, kAbs32, s);
  a.input.Relocate(a.text, 8, kAbs32Lo, f);
  a.input.Relocate(a.text, 4, kAbs32, begin);  // elsewhere for every kernel: never listed
  const LinkedOptions preserving = {.merge = {.sm = 80, .preserve_resolved = true}};
  CHECK(RelocatedOf(Linked({&a.input}, preserving)) == R"(stored
  .text.k+0x4 bits=0:32 value=0x11111121
  .text.k bits=0:32 value=0x11111111
kept
  .rel.text.k+0x8 ABS32_LO_32 f
  .nv.resolvedrela.text.k 32 s
)");
}

TEST_CASE("The lists count what they keep", "[relocate]") {
  Kernel a;
  const SymbolHandle f = a.input.Declare("f");
  a.input.AddCall(a.k, f);
  a.input.Relocate(a.text, 0, kAbs32Lo, f);
  a.input.Relocate(a.text, 8, kAbs32Lo, f);
  const Linked linked({&a.input});
  std::uint32_t counted = 0;
  for (std::size_t i = 0; i < linked.passes.program.sections.size(); ++i) {
    const std::uint32_t count = linked.passes.relocated.kept_in_list[i];
    if (count != 0) CHECK(linked.passes.program.sections[i].name == ".rel.text.k");
    counted += count;
  }
  CHECK(counted == 2);
}

}  // namespace
}  // namespace devlink::testing
