// SPDX-License-Identifier: Apache-2.0
#include "link/liveness.h"

#include "report/dump.h"
#include "support/catch.h"
#include "unit/link/linked.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;

std::string LivenessOf(const Linked& linked) {
  return internal::DumpLiveness(linked.passes.program, linked.passes.liveness);
}

TEST_CASE("Kernels stay with all that they reach", "[liveness]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  const SymbolHandle g = a.Define(Function{.name = "g"});
  const SymbolHandle dead = a.Define(Function{.name = "dead"});
  a.AddCall(k, f);
  a.AddCall(f, g);
  a.AddCall(dead, g);
  CHECK(LivenessOf(Linked({&a})) == R"(kernels
  k single
functions
  k live
  f live
  g live
  dead dead
sections removed
  .text.dead
)");
}

TEST_CASE("Where all code stays, kernels that nobody uses stay without what they call",
          "[liveness]") {
  InputBuilder a;
  const SymbolHandle used = a.DefineKernel("used");
  const SymbolHandle other = a.DefineKernel("other");
  const SymbolHandle f = a.Define(Function{.name = "f", .registers = 60});
  a.AddCall(used, f);
  a.AddCall(other, f);
  const Linked linked({&a}, {.merge = {.sm = 80,
                                       .kernels = internal::KernelSelection::Containing({"used"}),
                                       .preserve_resolved = true}});
  CHECK(LivenessOf(linked) == R"(kernels
  used
  other
kernels whose calls do not count
  other
functions
  used live
  other live
  f live
sections removed
)");
  CHECK(linked.passes.resources.kernels[0].registers == 60);
  CHECK(linked.passes.resources.kernels[1].registers < 60);
}

TEST_CASE("Recursion does not keep what nothing calls", "[liveness]") {
  InputBuilder a;
  a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  const SymbolHandle g = a.Define(Function{.name = "g"});
  a.AddCall(f, g);
  a.AddCall(g, f);
  CHECK(Pick(LivenessOf(Linked({&a})), {"f", "g"}) == R"(  f dead
  g dead
)");
}

TEST_CASE("A function whose address is taken stays; what only it calls does not", "[liveness]") {
  InputBuilder a;
  a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  const SymbolHandle g = a.Define(Function{.name = "g"});
  const SymbolHandle undefined = a.Declare("undefined");
  a.TakeAddress(f, "v_");
  a.AddCall(f, g);
  a.AddCall(f, undefined);
  CHECK(LivenessOf(Linked({&a})) == R"(kernels
  k single
functions
  k live
  f live address-taken
  g dead
  undefined live
sections removed
  .text.g
)");
}

TEST_CASE("A call through a pointer reaches what has its prototype", "[liveness]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  const SymbolHandle g = a.Define(Function{.name = "g"});
  const SymbolHandle of_f = a.Define(Function{.name = "of_f"});
  const SymbolHandle of_g = a.Define(Function{.name = "of_g"});
  a.CallIndirectly(k, "v_");
  a.TakeAddress(f, "v_");
  a.TakeAddress(g, "i_i");
  a.AddCall(f, of_f);
  a.AddCall(g, of_g);
  CHECK(Pick(LivenessOf(Linked({&a})), {"f", "g", "of_f", "of_g"}) == R"(  f live address-taken
  g live address-taken
  of_f live
  of_g dead
)");
}

TEST_CASE("With -g everything stays", "[liveness]") {
  InputBuilder a;
  a.DefineKernel("k");
  a.Define(Function{.name = "f"});
  CHECK(LivenessOf(Linked({&a}, {.debug = true})) == R"(kernels
  k single
functions
  k live
  f live
sections removed
)");
}

TEST_CASE("A kernel that is not asked for is left out, unless device code calls it", "[liveness]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  a.DefineKernel("other");
  const SymbolHandle child = a.DefineKernel("child");
  a.AddCall(k, child);
  LinkedOptions options;
  options.merge.kernels = internal::KernelSelection::Containing({"k"});
  CHECK(LivenessOf(Linked({&a}, options)) == R"(kernels
  k single
  child
kernels left out
  other
functions
  k live
  other dead
  child live
sections removed
  .text.other
)");
}

}  // namespace
}  // namespace devlink::testing
