// SPDX-License-Identifier: Apache-2.0
#include "link/constant_layout.h"

#include "report/dump.h"
#include "support/catch.h"
#include "unit/link/linked.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;

std::string ConstantsOf(const Linked& linked) {
  return internal::DumpConstants(linked.passes.program, linked.passes.constants);
}

TEST_CASE("A kernel's own constants are left where they are", "[constants]") {
  InputBuilder a;
  a.AddConstants(a.DefineKernel("k"), 8);
  CHECK(ConstantsOf(Linked({&a})) == R"(banks
moved
)");
}

TEST_CASE("A function's constants are appended to those of each kernel that reaches it",
          "[constants]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle l = a.DefineKernel("l");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  a.AddConstants(k, 12, 0xaa);
  a.AddConstants(f, 8, 0xff, 8);
  a.AddCall(k, f);
  a.AddCall(l, f);
  // At one offset for all of them: `l` had none, and gets a gap.
  CHECK(ConstantsOf(Linked({&a})) == R"(banks
  .nv.constant2.l new size=0x18 align=8 flags=0x42
    0x10: 0x8 bytes, ff ff ff ff ff ff ff ff
  .nv.constant2.k size=0x18 align=8 flags=0x42
    0x0: 0xc bytes, aa aa aa aa aa aa aa aa aa aa aa aa
    0x10: 0x8 bytes, ff ff ff ff ff ff ff ff
moved
  .nv.constant2.f offset=0x10
)");
}

TEST_CASE("Constants of several functions follow each other, last one first", "[constants]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  const SymbolHandle g = a.Define(Function{.name = "g"});
  a.AddConstants(f, 4, 0xff);
  a.AddConstants(g, 4, 0x66);
  a.AddCall(k, f);
  a.AddCall(k, g);
  CHECK(ConstantsOf(Linked({&a})) == R"(banks
  .nv.constant2.k new size=0x8 align=4 flags=0x42
    0x0: 0x4 bytes, 66 66 66 66
    0x4: 0x4 bytes, ff ff ff ff
moved
  .nv.constant2.f offset=0x4
  .nv.constant2.g offset=0x0
)");
}

TEST_CASE("Constants that no kernel reaches are in no bank", "[constants]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  a.TakeAddress(f, "v_");  // it stays
  a.AddConstants(f, 4);
  a.AddConstants(k, 4);
  CHECK(ConstantsOf(Linked({&a})) == R"(banks
moved
  .nv.constant2.f offset=0x0
)");
}

}  // namespace
}  // namespace devlink::testing
