// SPDX-License-Identifier: Apache-2.0
#include "link/fold.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "unit/merge/merged.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

// "b=a" for each function that another one replaces; and the names that code and records then have.
struct FoldedText {
  std::vector<std::string> replaced;
  std::vector<std::string> named;
};

FoldedText Fold(std::initializer_list<InputBuilder*> inputs,
                const std::vector<internal::FunctionId>& stay = {}) {
  const Merged merged = MergeInputs(inputs, {.sm = 80});  // has the names
  const internal::Folded folded = internal::FoldIdentical(merged.program(), stay);
  const internal::Program& program = folded.program;
  const auto name_of = [&](internal::FunctionId f) {
    return std::string(program.symbols[program.functions[f].symbol].name);
  };
  FoldedText out;
  for (const auto& [gone, other] : folded.replaced) {
    out.replaced.push_back(name_of(gone) + "=" + name_of(other));
  }
  for (const internal::Relocation& relocation : program.relocations) {
    out.named.emplace_back(program.symbols[relocation.symbol].name);
  }
  for (const internal::CallEdge& call : program.calls) {
    out.named.push_back(name_of(call.caller) + ">" + name_of(call.callee));
  }
  return out;
}

using Names = std::vector<std::string>;

TEST_CASE("Of functions that are the same the first stays, and so of their callers", "[fold]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  const SymbolHandle g = a.Define(Function{.name = "g"});
  const SymbolHandle above_f = a.Define(Function{.name = "above_f"});
  const SymbolHandle above_g = a.Define(Function{.name = "above_g"});
  for (const auto& [caller, callee] :
       {std::pair(above_f, f), std::pair(above_g, g), std::pair(k, above_f)}) {
    a.AddCall(caller, callee);
    a.Relocate(a.TextOf(caller), 0, kAbs32Lo, callee);
  }
  a.AddCall(k, above_g);
  a.Relocate(a.TextOf(k), 8, kAbs32Lo, above_g);
  // The call of the one that goes may come first.
  const SymbolHandle l = a.DefineKernel("l");
  a.AddCall(l, above_g);
  a.AddCall(l, above_f);
  const FoldedText folded = Fold({&a});
  CHECK(folded.replaced == Names{"g=f", "above_g=above_f"});
  CHECK(std::count(folded.named.begin(), folded.named.end(), "above_g") == 0);
  CHECK(std::count(folded.named.begin(), folded.named.end(), "k>above_f") == 1);
  CHECK(std::count(folded.named.begin(), folded.named.end(), "l>above_f") == 1);
}

TEST_CASE("Functions are not the same that refer, call or need something else", "[fold]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle x = a.Define(Variable{.name = "x", .section = a.AddData(".nv.global", 4)});
  const SymbolHandle plain = a.Define(Function{.name = "plain"});
  const SymbolHandle refers = a.Define(Function{.name = "refers"});
  const SymbolHandle elsewhere = a.Define(Function{.name = "elsewhere"});
  const SymbolHandle calls = a.Define(Function{.name = "calls"});
  a.Relocate(a.TextOf(refers), 0, kAbs32Lo, x);
  a.Relocate(a.TextOf(elsewhere), 8, kAbs32Lo, x);
  a.AddCall(calls, plain);
  for (const SymbolHandle f : {plain, refers, elsewhere, calls}) a.AddCall(k, f);
  a.Define(Function{.name = "registers", .registers = 99});
  a.Define(Function{.name = "code", .fill = 0x33});
  CHECK(Fold({&a}).replaced.empty());
}

TEST_CASE("What a program could tell apart stays", "[fold]") {
  SECTION("addresses") {
    InputBuilder a;
    a.DefineKernel("k");
    a.TakeAddress(a.Define(Function{.name = "f"}), "v_");
    a.TakeAddress(a.Define(Function{.name = "g"}), "v_");
    CHECK(Fold({&a}).replaced.empty());
  }
  SECTION("addresses in data") {
    InputBuilder a;
    const SectionHandle table = a.AddData(".nv.global.init", 16);
    a.Relocate(table, 0, 2, a.Define(Function{.name = "f"}));
    a.Relocate(table, 8, 2, a.Define(Function{.name = "g"}));
    CHECK(Fold({&a}).replaced.empty());
  }
  SECTION("kernels") {
    InputBuilder a;
    a.DefineKernel("k");
    a.DefineKernel("l");
    CHECK(Fold({&a}).replaced.empty());
  }
  SECTION("what is asked for by name") {
    InputBuilder a;
    a.Define(Function{.name = "f"});
    a.Define(Function{.name = "g"});
    CHECK(Fold({&a}, {1}).replaced.empty());
  }
  SECTION("what calls itself") {
    InputBuilder a;
    const SymbolHandle f = a.Define(Function{.name = "f"});
    const SymbolHandle g = a.Define(Function{.name = "g"});
    a.AddCall(f, g);
    a.AddCall(g, f);
    CHECK(Fold({&a}).replaced.empty());
  }
}

TEST_CASE("A function's own name is no difference", "[fold]") {
  InputBuilder a;
  for (const char* name : {"f", "g"}) {
    const SymbolHandle f = a.Define(Function{.name = name});
    a.Relocate(a.TextOf(f), 0, kAbs32Lo, f, 8);
  }
  CHECK(Fold({&a}).replaced == Names{"g=f"});
}

}  // namespace
}  // namespace devlink::testing
