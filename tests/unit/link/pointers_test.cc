// SPDX-License-Identifier: Apache-2.0
#include "link/pointers.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "link/call_graph.h"
#include "report/dump.h"
#include "support/catch.h"
#include "unit/merge/merged.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;
using internal::CallGraph;
using internal::FindFunctions;
using internal::FindLiveFunctions;
using internal::FindLostPointers;
using internal::Liveness;
using internal::NoteBehindPointers;
using internal::Program;

// What the second of two files has beside its copy of `f`, which is discarded.
struct Second {
  bool variable_points = true;
  bool calls_f = false;          // the kernel, itself
  std::string calls_indirectly;  // the kernel, a function of this prototype
  bool relocatable = false;
};

// Liveness with what was found, and before.
struct Found {
  Program program;
  Liveness before;
  Liveness after;
  std::size_t lost = 0;
  internal::FunctionId f = internal::kNone;
  std::string note;
  std::string note_of_finalizer;  // where that is needed
};

Found Link(const Second& second) {
  InputBuilder a;
  const SymbolHandle unused = a.Define(Function{.name = "unused"});
  a.AddCall(unused, a.Define(Function{.name = "f", .binding = format::kStbWeak}));
  InputBuilder b;
  const SymbolHandle f =
      b.Define(Function{.name = "f", .binding = format::kStbWeak, .registers = 9});
  b.TakeAddress(f, "i_i");
  const SectionHandle data = b.AddData(".nv.global.init", 8);
  if (second.variable_points) b.Relocate(data, 0, kAbs64, f);
  const SymbolHandle k = b.DefineKernel("k");
  if (second.calls_f) b.AddCall(k, f);
  if (!second.calls_indirectly.empty()) b.CallIndirectly(k, second.calls_indirectly);
  const Merged merged = MergeInputs({&a, &b});
  Found out{.program = merged.program()};
  out.f = FindFunctions(out.program, std::vector<std::string>{"f"}).functions.at(0);
  out.before = FindLiveFunctions(out.program, CallGraph(out.program), false);
  const auto lost = FindLostPointers(out.program, out.before, second.relocatable);
  out.lost = lost.size();
  out.program = WithAddressesTaken(std::move(out.program), lost);
  const auto note = NoteForgottenAddresses(out.program);
  if (note) out.note = note->notes.at(0);
  const auto other = NoteForgottenAddresses(AsFinalizerHasIt(merged.program(), lost));
  REQUIRE(other.has_value() == note.has_value());
  if (other) out.note_of_finalizer = other->notes.at(0);
  out.after = FindLiveFunctions(out.program, CallGraph(out.program), false);
  return out;
}

TEST_CASE("A function to which a variable points stays, though its copy is discarded",
          "[pointers]") {
  const Found found = Link({});
  CHECK_FALSE(found.before.live[found.f]);
  CHECK(found.lost == 1);
  CHECK(found.note.starts_with("variables point to 'f': "));
  CHECK(found.note.ends_with("; --compat=nvlink, too"));
  CHECK(
      found.note_of_finalizer.ends_with(", and so does NVIDIA's finalizer, which this link needs"));
  CHECK(found.after.live[found.f]);
  CHECK(found.after.address_taken[found.f]);
  REQUIRE(found.program.addresses_taken.size() == 1);
  CHECK(found.program.prototypes == std::string("i_i\0", 4));
  CHECK(found.program.addresses_taken[0].prototype == 1);
}

TEST_CASE("What no variable points to goes", "[pointers]") {
  const Found found = Link({.variable_points = false});
  CHECK(found.lost == 0);
  CHECK(found.note.empty());
  CHECK_FALSE(found.after.live[found.f]);
}

TEST_CASE("A pointer to what stays counts where somebody calls through such pointers",
          "[pointers]") {
  // Nobody does: the file is nvlink's.
  Found found = Link({.calls_f = true});
  CHECK(found.before.live[found.f]);
  CHECK(found.lost == 0);
  found = Link({.calls_f = true, .calls_indirectly = "v_"});
  CHECK(found.lost == 0);
  // Its registers are the kernel's.
  found = Link({.calls_f = true, .calls_indirectly = "i_i"});
  CHECK(found.lost == 1);
  CHECK(found.after.address_taken[found.f]);
  CHECK(found.program.prototypes == std::string("i_i\0", 4));  // once
  // The next link may have who does.
  found = Link({.calls_f = true, .relocatable = true});
  CHECK(found.lost == 1);
  CHECK(Link({.variable_points = false, .relocatable = true}).lost == 0);
}

TEST_CASE("A note says of pointers in constants whether they are null", "[pointers]") {
  Program program;
  CHECK_FALSE(NoteSecondCopyPointers(program));
  program.second_copy_pointers = {.count = 1, .first = "f"};
  auto note = NoteSecondCopyPointers(program);
  REQUIRE(note);
  CHECK(note->symbol == "f");
  CHECK(note->notes.at(0) ==
        "constants hold a pointer to 'f', of which another file's copy is linked: nvlink leaves it "
        "null; --compat=nvlink, too");
  program.second_copy_pointers.count = 2;
  note = NoteSecondCopyPointers(AsFinalizerHasIt(std::move(program), {}));
  REQUIRE(note);
  CHECK(note->notes.at(0) ==
        "constants hold pointers such as that to 'f', of which another file's copy is linked: "
        "nvlink leaves them null, and so does NVIDIA's finalizer, which this link needs");
}

TEST_CASE("A note names a kernel of which nvlink loses what it calls", "[pointers]") {
  InputBuilder a;
  a.DefineKernel("wanted");
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  a.TakeAddress(k, "v_");
  a.AddCall(k, f);
  const Merged merged = MergeInputs({&a});
  const CallGraph graph(merged.program());
  const auto kernels = internal::KernelSelection::Containing({"wanted"});
  const auto note_of = [&](bool keep_all, const internal::LivenessRules& rules) {
    return NoteLostByOne(merged.program(),
                         FindLiveFunctions(merged.program(), graph, keep_all, kernels, rules));
  };
  const auto note = note_of(false, {});
  REQUIRE(note);
  CHECK(note->symbol == "k");
  CHECK(
      note->notes.at(0) ==
      "kernels stay beside 'wanted', the only one that is asked for, 'k' among them: nvlink loses "
      "what some of them call, or the registers and the memory for it; --compat=nvlink, too");
  CHECK_FALSE(note_of(true, {}));
  CHECK_FALSE(note_of(false, {.as_nvlink = true}));
}

TEST_CASE("A note names a function that only pointers lead to, and who calls it", "[pointers]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle h = a.Define(Function{.name = "h"});
  const SymbolHandle g = a.Define(Function{.name = "g"});
  const SymbolHandle f = a.Define(Function{.name = "f"});
  a.TakeAddress(f, "v_");
  a.Relocate(a.TextOf(k), 0, kAbs64, f);
  std::string expected;
  SECTION("there is none") { a.Define(Function{.name = "unused"}); }
  SECTION("one") {
    a.AddCall(f, g);
    expected = "only pointers lead to 'g' (called by 'f'): nvlink leaves ";
  }
  SECTION("two, of which one is called by the other") {
    a.AddCall(f, g);
    a.AddCall(g, h);
    expected = "only pointers lead to 'g' (called by 'f') and to 1 more: nvlink leaves ";
  }
  const Merged merged = MergeInputs({&a});
  const internal::CallGraph graph(merged.program());
  const auto liveness = FindLiveFunctions(merged.program(), graph, false);
  const auto note = NoteBehindPointers(merged.program(), graph, liveness);
  REQUIRE(note.has_value() == !expected.empty());
  if (!note) return;
  CHECK(note->notes.at(0).starts_with(expected));
  CHECK(note->symbol == "g");
  CHECK(note->severity == Severity::kInfo);
}

}  // namespace
}  // namespace devlink::testing
