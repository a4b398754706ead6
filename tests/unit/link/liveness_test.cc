// SPDX-License-Identifier: Apache-2.0
#include "link/liveness.h"

#include "report/dump.h"
#include "support/catch.h"
#include "support/text.h"
#include "unit/link/linked.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

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

// `f`, whose address is taken, calls `g`, which calls `h`; nothing else does.
struct BehindPointer {
  BehindPointer() {
    input.AddCall(f, g);
    input.AddCall(f, input.Declare("undefined"));
    input.AddCall(g, input.Declare("undefined_of_g"));
    input.AddCall(g, h);
    input.TakeAddress(f, "v_");
  }

  void PointAtF(SectionHandle section) { input.Relocate(section, 0, kAbs64, f); }
  // A variable with the pointer; `other` lies behind it.
  SymbolHandle AddTable() {
    variables = input.AddData(".nv.global.init", 16);
    PointAtF(variables);
    other = input.Define(Variable{.name = "other", .section = variables, .size = 8, .value = 8});
    return input.Define(Variable{.name = "table", .section = variables, .size = 8});
  }
  // Their names, of functions that stay for the pointer.
  static std::string BehindPointers(const internal::Program& program,
                                    const internal::Liveness& liveness) {
    std::string out;
    for (const internal::FunctionId function : liveness.behind_pointers) {
      out += Cat(program.symbols[program.functions[function].symbol].name, " ");
    }
    return out;
  }
  std::string BehindPointers() {
    const Linked linked({&input});
    return BehindPointers(linked.passes.program, linked.passes.liveness);
  }

  InputBuilder input;
  SymbolHandle k = input.DefineKernel("k");
  SymbolHandle f = input.Define(Function{.name = "f"});
  SymbolHandle g = input.Define(Function{.name = "g"});
  SymbolHandle h = input.Define(Function{.name = "h"});
  SectionHandle variables = kNoSection;
  SymbolHandle other = kNoSymbol;
};

TEST_CASE("A function to which code has a pointer stays with all that it calls", "[liveness]") {
  BehindPointer made;
  made.PointAtF(made.input.TextOf(made.k));
  const Linked linked({&made.input});
  const internal::PassResults& passes = linked.passes;
  CHECK(LivenessOf(linked) == R"(kernels
  k single
functions
  k live
  f live address-taken
  g live
  h live
  undefined live
  undefined_of_g live
sections removed
)");
  CHECK(BehindPointer::BehindPointers(passes.program, passes.liveness) == "g h ");

  // For nvlink, what only it calls goes.
  internal::PassResults as_nvlink = linked.passes;
  as_nvlink.liveness =
      internal::FindLiveFunctions(passes.program, passes.graph, false, {}, {.as_nvlink = true});
  CHECK(internal::DumpLiveness(as_nvlink.program, as_nvlink.liveness) == R"(kernels
  k single
functions
  k live
  f live address-taken
  g dead
  h dead
  undefined live
  undefined_of_g dead
sections removed
  .text.g
  .text.h
)");
  CHECK(as_nvlink.liveness.behind_pointers.empty());
}

TEST_CASE("What is behind a pointer can be found and go", "[liveness]") {
  BehindPointer made;
  made.PointAtF(made.input.TextOf(made.k));
  const Linked linked({&made.input});
  const internal::Program& program = linked.passes.program;
  const auto name_of = [&](internal::FunctionId function) {
    return program.symbols[program.functions[function].symbol].name;
  };
  const internal::Liveness lost = internal::FindLiveFunctions(program, linked.passes.graph, false,
                                                              {}, {.loses_behind_pointers = true});
  CHECK(lost.loses_behind_pointers);
  CHECK(BehindPointer::BehindPointers(program, lost) == "g h ");
  for (const internal::FunctionId function : lost.behind_pointers) CHECK_FALSE(lost.live[function]);
  REQUIRE(lost.missing_behind_pointers != internal::kNone);
  CHECK(name_of(lost.missing_behind_pointers) == "undefined_of_g");
  CHECK_FALSE(lost.live[lost.missing_behind_pointers]);
  REQUIRE(lost.pointed.size() == 1);
  CHECK(name_of(lost.pointed[0]) == "f");
}

TEST_CASE("What is behind a pointer stays where somebody has it", "[liveness]") {
  BehindPointer made;
  InputBuilder& input = made.input;
  SECTION("nobody") { CHECK(made.BehindPointers().empty()); }
  SECTION("a kernel") {
    made.PointAtF(input.TextOf(made.k));
    CHECK(made.BehindPointers() == "g h ");
  }
  SECTION("a function that goes") {
    const SymbolHandle unused = input.Define(Function{.name = "unused"});
    made.PointAtF(input.TextOf(unused));
    CHECK(made.BehindPointers().empty());
  }
  SECTION("a function that stays for another pointer") {
    const SymbolHandle first = input.Define(Function{.name = "first"});
    const SymbolHandle second = input.Define(Function{.name = "second"});
    input.TakeAddress(first, "i_i");
    input.AddCall(first, second);
    input.Relocate(input.TextOf(made.k), 0, kAbs64, first);
    made.PointAtF(input.TextOf(second));
    CHECK(made.BehindPointers() == "g h second ");
  }
  SECTION("a variable that no code refers to, as for nvlink") {
    made.AddTable();
    CHECK(made.BehindPointers().empty());
  }
  SECTION("a variable that a kernel refers to") {
    input.Relocate(input.TextOf(made.k), 0, kAbs64, made.AddTable());
    CHECK(made.BehindPointers() == "g h ");
  }
  SECTION("a variable beside one that a kernel refers to") {
    made.AddTable();
    input.Relocate(input.TextOf(made.k), 0, kAbs64, made.other);
    CHECK(made.BehindPointers().empty());
  }
  SECTION("a variable to which one points that a kernel refers to") {
    const SymbolHandle table = made.AddTable();
    input.Relocate(made.variables, 8, kAbs64, table);
    input.Relocate(input.TextOf(made.k), 0, kAbs64, made.other);
    CHECK(made.BehindPointers() == "g h ");
  }
  SECTION("debug records only") {
    made.PointAtF(input.AddData(".debug_info", 8));
    CHECK(made.BehindPointers().empty());
  }
  SECTION("a kernel that calls what it calls, too") {
    made.PointAtF(input.TextOf(made.k));
    input.AddCall(made.k, made.g);
    CHECK(made.BehindPointers().empty());
  }
  SECTION("a kernel that calls such functions") {
    made.PointAtF(input.TextOf(made.k));
    input.CallIndirectly(made.k, "v_");
    CHECK(made.BehindPointers().empty());
  }
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
