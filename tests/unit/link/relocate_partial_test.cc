// SPDX-License-Identifier: Apache-2.0
#include "link/relocate_partial.h"

#include "report/dump.h"
#include "support/catch.h"
#include "unit/link/linked.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

std::string RelocatedPartly(InputBuilder& input, bool keep_references = false) {
  const LinkedPartial linked(input, /*debug=*/false, keep_references);
  return internal::DumpRelocated(linked.passes.program, linked.passes.relocated);
}

// A kernel that refers to one thing of each kind.
struct References {
  References() {
    const SymbolHandle k = input.DefineKernel("k");
    const SectionHandle text = input.TextOf(k);
    input.Relocate(text, 0, kAbs32Lo, input.Declare("f"));
    const SectionHandle shared = input.AddData(".nv.shared.k", 0, k);
    input.Relocate(
        text, 4, kAbs32,
        input.Define(Variable{
            .name = "s", .section = shared, .space = format::kStoShared, .size = 8, .value = 8}),
        0);
    const SectionHandle bank = input.AddData(".nv.constant3", 16);
    input.Relocate(text, 8, kAbs32,
                   input.Define(Variable{
                       .name = "c", .section = bank, .space = format::kStoConstant, .value = 12}),
                   0);
    input.Relocate(text, 12, kAbs32, input.SectionSymbolOf(bank), 4);
  }
  InputBuilder input;
};

TEST_CASE("nvlink -r stores references to shared and constant variables", "[relocate][partial]") {
  References a;
  CHECK(RelocatedPartly(a.input) == R"(stored
  .text.k+0xc bits=0:32 value=0x4
  .text.k+0x8 bits=0:32 value=0xc
  .text.k+0x4 bits=0:32 value=0x8
kept
  .rel.text.k ABS32_LO_32 f
resolved early shared=1 constants=1
)");
}

TEST_CASE("References are kept for the next link where that is asked for", "[relocate][partial]") {
  References a;
  CHECK(RelocatedPartly(a.input, true) == R"(stored
kept
  .rela.text.k+0xc 32 .nv.constant3 addend=0x4
  .rela.text.k+0x8 32 c
  .rela.text.k+0x4 32 s
  .rel.text.k ABS32_LO_32 f
)");
}

TEST_CASE("A weak variable may come to be another, so its references stay", "[relocate][partial]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SectionHandle bank = a.AddData(".nv.constant3", 16);
  a.Relocate(a.TextOf(k), 0, kAbs32,
             a.Define(Variable{.name = "c",
                               .section = bank,
                               .space = format::kStoConstant,
                               .binding = format::kStbWeak}),
             0);
  CHECK(RelocatedPartly(a) == R"(stored
kept
  .rela.text.k 32 c
)");
}

TEST_CASE("extern __shared__ of a kernel gets a symbol of its own", "[relocate][partial]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  a.AddData(".nv.shared.k", 0, k);
  const SymbolHandle dynamic =
      a.Define(Variable{.name = "dynamic", .space = format::kStoShared, .size = 0});
  a.Relocate(a.TextOf(k), 0, kAbs32, dynamic, 0);
  CHECK(RelocatedPartly(a) == R"(stored
kept
  .rela.text.k 32 dynamic instance=0
)");
}

}  // namespace
}  // namespace devlink::testing
