// SPDX-License-Identifier: Apache-2.0
#include "link/constant_layout.h"

#include <cstddef>
#include <string>
#include <vector>

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

// 0x40: belongs to a section.
TEST_CASE("A bank with a function's constants is flagged as the kernel's, whatever the inputs' are",
          "[constants]") {
  InputBuilder a;
  a.LeaveConstantsUnflagged();
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle l = a.DefineKernel("l");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  a.AddConstants(k, 4, 0xaa);
  a.AddConstants(f, 4, 0xff);
  a.AddCall(k, f);
  a.AddCall(l, f);
  const std::string told = ConstantsOf(Linked({&a}));
  CHECK(told.find(".nv.constant2.l new size=0x8 align=4 flags=0x42") != std::string::npos);
  CHECK(told.find(".nv.constant2.k size=0x8 align=4 flags=0x42") != std::string::npos);
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

TEST_CASE("Copies of constants take no more memory than they may", "[constants]") {
  InputBuilder a;
  std::vector<SymbolHandle> functions;
  for (int i = 0; i < 100; ++i) {
    functions.push_back(a.Define(Function{.name = "f" + std::to_string(i)}));
    a.AddConstants(functions.back(), 4);
    if (i > 0)
      a.AddCall(functions[static_cast<std::size_t>(i)], functions[static_cast<std::size_t>(i) - 1]);
  }
  for (int i = 0; i < 100; ++i)
    a.AddCall(a.DefineKernel("k" + std::to_string(i)), functions.back());
  const Linked linked({&a});
  const internal::PassResults& passes = linked.passes;
  CHECK_FALSE(passes.constants.too_large);
  const auto bounded =
      internal::LayOutConstants(passes.program, passes.graph, passes.liveness, 10'000);
  CHECK(bounded.too_large);
  std::size_t copies = 0;
  for (const internal::ConstantBank& bank : bounded.banks) {
    CHECK(bank.size < 400);  // nothing is done for the rest of the functions
    copies += bank.appended.size();
  }
  CHECK(copies > 100);
  CHECK(copies * (4 + sizeof(internal::Piece)) <= 10'000);
  CHECK(bounded.moved.size() == functions.size());
}

}  // namespace
}  // namespace devlink::testing
