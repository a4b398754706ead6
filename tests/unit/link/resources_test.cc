// SPDX-License-Identifier: Apache-2.0
#include "link/resources.h"

#include <cstdint>
#include <vector>

#include "format/nv_info.h"
#include "report/dump.h"
#include "support/catch.h"
#include "unit/link/linked.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;

std::string ResourcesOf(const Linked& linked) {
  return internal::DumpResources(linked.passes.program, linked.passes.liveness,
                                 linked.passes.resources);
}

SymbolHandle Define(InputBuilder& input, const Function& function, std::uint32_t frame) {
  const SymbolHandle symbol = input.Define(function);
  input.AddModuleRecord(format::kAttrFrameSize, symbol, frame);
  return symbol;
}

TEST_CASE("A kernel needs the most registers and the deepest stack of what it calls",
          "[resources]") {
  InputBuilder a;
  const SymbolHandle k = Define(a, {.name = "k", .kernel = true, .registers = 10}, 8);
  const SymbolHandle f = Define(a, {.name = "f", .registers = 30}, 16);
  const SymbolHandle g = Define(a, {.name = "g", .registers = 20}, 4);
  const SymbolHandle h = Define(a, {.name = "h", .registers = 5}, 100);
  a.AddCall(k, f);
  a.AddCall(k, g);
  a.AddCall(g, h);
  CHECK(ResourcesOf(Linked({&a})) == R"(kernels
  k registers=30 stack=112
functions alone
  k registers=10 frame=8
  f registers=30 frame=16
  g registers=20 frame=4
  h registers=5 frame=100
)");
}

TEST_CASE("The stack of recursion is not known", "[resources]") {
  InputBuilder a;
  const SymbolHandle k = Define(a, {.name = "k", .kernel = true}, 8);
  const SymbolHandle l = Define(a, {.name = "l", .kernel = true}, 8);
  const SymbolHandle f = Define(a, {.name = "f"}, 16);
  const SymbolHandle g = Define(a, {.name = "g"}, 16);
  a.AddCall(k, f);
  a.AddCall(f, f);
  a.AddCall(l, g);
  CHECK(Pick(ResourcesOf(Linked({&a})), {"kernels"}) == R"(kernels
  k registers=8 stack=unknown
  l registers=8 stack=24
)");
}

// So often nvlink warns of a kernel's stack.
TEST_CASE("Calls into circles are counted by function, and through pointers by call",
          "[resources]") {
  InputBuilder a;
  const SymbolHandle k = Define(a, {.name = "k", .kernel = true}, 8);
  const SymbolHandle l = Define(a, {.name = "l", .kernel = true}, 8);
  Define(a, {.name = "m", .kernel = true}, 8);
  const SymbolHandle f = Define(a, {.name = "f"}, 16);
  const SymbolHandle g = Define(a, {.name = "g"}, 16);
  const SymbolHandle plain = Define(a, {.name = "plain"}, 16);
  for (const SymbolHandle callee : {f, g, plain}) {
    if (callee != plain) a.AddCall(callee, callee);
    a.TakeAddress(callee, "v_");
  }
  for (const SymbolHandle callee : {f, plain}) a.AddCall(k, callee);
  for (int call = 0; call < 2; ++call) a.CallIndirectly(l, "v_");
  a.AddCall(l, f);
  a.CallIndirectly(k, "i_i");
  std::vector<std::uint32_t> calls;
  const Linked linked({&a});
  for (const auto& kernel : linked.passes.resources.kernels) {
    calls.push_back(kernel.calls_into_circles);
  }
  CHECK(calls == std::vector<std::uint32_t>{1, 5, 0});
}

TEST_CASE("Of several records of a function the last one counts", "[resources]") {
  InputBuilder a;
  const SymbolHandle k = Define(a, {.name = "k", .kernel = true}, 8);
  a.AddModuleRecord(format::kAttrFrameSize, k, 24);
  CHECK(Pick(ResourcesOf(Linked({&a})), {"kernels"}) == R"(kernels
  k registers=8 stack=24
)");
}

}  // namespace
}  // namespace devlink::testing
