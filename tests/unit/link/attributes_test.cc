// SPDX-License-Identifier: Apache-2.0
#include "link/attributes.h"

#include "format/nv_info.h"
#include "report/dump.h"
#include "support/catch.h"
#include "support/text.h"
#include "unit/link/linked.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;

std::string AttributesOf(const Linked& linked) {
  return internal::DumpAttributes(linked.passes.program, linked.passes.attributes);
}

void SetBarriers(InputBuilder& input, SymbolHandle function, std::uint16_t count) {
  input.AddRecord(function, format::kInfoByteValue, format::kAttrNumBarriers, count);
}
void SetMbarriers(InputBuilder& input, SymbolHandle function, std::uint16_t count) {
  input.AddRecord(function, format::kInfoHalfValue, format::kAttrNumMbarriers, count);
}

// Two kernels, of which the first calls `f`, which calls `g`.
struct TwoKernels {
  TwoKernels()
      : k(input.DefineKernel("k")),
        l(input.DefineKernel("l")),
        f(input.Define(Function{.name = "f"})),
        g(input.Define(Function{.name = "g"})) {
    input.AddCall(k, f);
    input.AddCall(f, g);
  }
  InputBuilder input;
  SymbolHandle k;
  SymbolHandle l;
  SymbolHandle f;
  SymbolHandle g;
};

TEST_CASE("A kernel needs the most barriers of what it reaches", "[attributes]") {
  TwoKernels a;
  SetBarriers(a.input, a.k, 1);
  SetBarriers(a.input, a.l, 2);
  SetBarriers(a.input, a.g, 5);
  CHECK(AttributesOf(Linked({&a.input})) == R"(functions
  k
    replaced NUM_BARRIERS value=5
  l
    replaced NUM_BARRIERS value=2
)");
}

TEST_CASE("Flags of code that say barriers are an attribute", "[attributes]") {
  constexpr std::uint64_t kOne = 1 << 20;
  TwoKernels a;
  const SymbolHandle m =
      a.input.Define(Function{.name = "m", .kernel = true, .more_flags = 16 * kOne});
  const SymbolHandle h = a.input.Define(Function{.name = "h", .more_flags = 3 * kOne});
  a.input.AddCall(m, h);
  a.input.AddCall(a.l, h);
  SetBarriers(a.input, a.g, 5);
  CHECK(AttributesOf(Linked({&a.input})) == R"(functions
  k
    appended NUM_BARRIERS value=5
  l
    appended NUM_BARRIERS value=3
  m
    appended NUM_BARRIERS value=16
  h
    appended NUM_BARRIERS value=3
)");
}

TEST_CASE("A record of another function does not lessen what a kernel's flags say",
          "[attributes]") {
  TwoKernels a;
  const SymbolHandle m =
      a.input.Define(Function{.name = "m", .kernel = true, .more_flags = 16 << 20});
  a.input.AddCall(m, a.g);
  SetBarriers(a.input, a.g, 1);
  const Linked linked({&a.input});
  CHECK(AttributesOf(linked) == R"(functions
  k
    appended NUM_BARRIERS value=1
  m
    appended NUM_BARRIERS value=16
)");
}

TEST_CASE("An attribute that a kernel lacks is appended to its own", "[attributes]") {
  TwoKernels a;
  SetBarriers(a.input, a.g, 5);
  a.input.AddRecord(a.f, format::kInfoNoValue, format::kAttrCtaidzUsed, 0);
  // In the order in which they arrived.
  CHECK(AttributesOf(Linked({&a.input})) == R"(functions
  k
    appended NUM_BARRIERS value=5
    appended CTAIDZ_USED
)");
}

TEST_CASE("Memory barriers are summed, each function once", "[attributes]") {
  TwoKernels a;
  a.input.AddCall(a.k, a.g);
  SetMbarriers(a.input, a.k, 1);
  SetMbarriers(a.input, a.f, 2);
  SetMbarriers(a.input, a.g, 4);
  CHECK(AttributesOf(Linked({&a.input})) == R"(functions
  k
    replaced NUM_MBARRIERS value=7
)");
}

TEST_CASE("With one kernel all that is alive counts, reached or not", "[attributes]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Define(Function{.name = "f"});
  a.TakeAddress(f, "v_");
  SetBarriers(a, k, 1);
  SetBarriers(a, f, 3);
  a.AddRecord(f, format::kInfoNoValue, format::kAttrCtaidzUsed, 0);
  CHECK(AttributesOf(Linked({&a})) == R"(functions
  k
    replaced NUM_BARRIERS value=3
    appended CTAIDZ_USED
)");
}

TEST_CASE("A dead function's attributes do not count", "[attributes]") {
  InputBuilder a;
  SetBarriers(a, a.DefineKernel("k"), 1);
  SetBarriers(a, a.Define(Function{.name = "dead"}), 3);
  CHECK(AttributesOf(Linked({&a})) == R"(functions
  k
    replaced NUM_BARRIERS value=1
)");
}

TEST_CASE("Kernels list the undefined functions that they reach", "[attributes]") {
  TwoKernels a;
  const SymbolHandle one = a.input.Declare("one");
  const SymbolHandle two = a.input.Declare("two");
  a.input.AddCall(a.g, one);
  a.input.AddCall(a.k, two);
  a.input.AddExterns(a.k, {two, a.f});  // `f` is defined
  a.input.AddExterns(a.g, {one});
  CHECK(AttributesOf(Linked({&a.input})) == R"(functions
  k
    externs in place two one
  g
    externs in place one
)");
}

TEST_CASE("A link with one kernel gives it all undefined functions", "[attributes]") {
  const auto attributes = [](std::string_view release) {
    InputBuilder a;
    const SymbolHandle k = a.DefineKernel("k");
    const SymbolHandle f = a.Define(Function{.name = "f"});
    const SymbolHandle one = a.Declare("one");
    const SymbolHandle two = a.Declare("two");
    a.AddCall(k, f);
    a.AddCall(f, one);
    a.AddCall(f, two);
    a.AddExterns(f, {one, two});
    return AttributesOf(Linked({&a}, {.profile = *ToolkitProfile::ForRelease(release)}));
  };
  // The last one first.
  CHECK(attributes("13.0") == R"(functions
  k
    appended EXTERNS
    externs appended two one
  f
    externs in place one two
)");
  // From 13.2 on as they arrived.
  CHECK(attributes("13.2").find("externs appended one two") != std::string::npos);
}

TEST_CASE("What travels depends on the release", "[attributes]") {
  const auto travelled = [](std::string_view release) {
    TwoKernels a;
    a.input.AddRecord(a.k, format::kInfoHalfValue, format::kAttrMask68, 1);
    a.input.AddRecord(a.f, format::kInfoHalfValue, format::kAttrMark62, 0);
    a.input.AddRecord(a.g, format::kInfoHalfValue, format::kAttrMask68, 4);
    const Linked linked({&a.input}, {.profile = *ToolkitProfile::ForRelease(release)});
    const auto& of_k = linked.passes.attributes.functions.front();
    std::string out;
    for (const auto& value : of_k.replaced) Append(out, "=", int{value.id}, ":", value.value);
    for (const auto& value : of_k.appended) Append(out, "+", int{value.id}, ":", value.value);
    return out;
  };
  CHECK(travelled("13.1").empty());
  CHECK(travelled("13.2") == "+98:0");
  CHECK(travelled("13.3") == "=104:5+98:0");
}

TEST_CASE("Where any function has a mask of sparse instructions, each kernel gets one",
          "[attributes]") {
  TwoKernels a;
  a.input.AddRecord(a.f, format::kInfoHalfValue, format::kAttrSparseMmaMask, 0x3);
  CHECK(AttributesOf(Linked({&a.input})) == R"(functions
  k
    appended SPARSE_MMA_MASK value=32771
  l
    appended SPARSE_MMA_MASK value=32768
)");
}

TEST_CASE("Fragments go from functions to the kernels that reach them", "[attributes]") {
  TwoKernels a;
  a.input.AddWord(a.l, format::kAttrEntryFragments, 9);
  a.input.AddWord(a.f, format::kAttrEntryFragments, 6);
  a.input.AddWord(a.g, format::kAttrEntryFragments, 7);
  CHECK(AttributesOf(Linked({&a.input})) == R"(functions
  k
    appended AT_ENTRY_FRAGMENTS
    fragments 6 7
  l
    fragments 9
  f
    loses fragments
  g
    loses fragments
)");
}

TEST_CASE("With one kernel a list of fragments that lacks some is replaced", "[attributes]") {
  InputBuilder a;
  const SymbolHandle f = a.Define(Function{.name = "f"});
  const SymbolHandle k = a.DefineKernel("k");
  a.AddCall(k, f);
  a.AddWord(k, format::kAttrEntryFragments, 6);
  SECTION("lacks one") {
    a.AddWord(f, format::kAttrEntryFragments, 7);
    const Linked linked({&a});
    CHECK(linked.passes.attributes.functions[1].fragments == std::vector<std::uint32_t>{6, 7});
    CHECK_FALSE(linked.passes.attributes.functions[1].fragments_in_place);
    REQUIRE(linked.passes.attributes.functions[1].appended.size() == 1);
    CHECK(linked.passes.attributes.functions[0].loses_fragments);
  }
  SECTION("lacks none") {
    a.AddWord(f, format::kAttrEntryFragments, 6);
    const Linked linked({&a});
    CHECK(linked.passes.attributes.functions[1].fragments_in_place);
    CHECK(linked.passes.attributes.functions[1].appended.empty());
  }
}

TEST_CASE("A relocatable link leaves attributes where they are", "[attributes]") {
  TwoKernels a;
  const SymbolHandle one = a.input.Declare("one");
  a.input.AddCall(a.g, one);
  a.input.AddExterns(a.g, {one, a.f});
  SetBarriers(a.input, a.g, 5);
  const LinkedPartial linked(a.input);
  CHECK(internal::DumpAttributes(linked.passes.program, linked.passes.attributes) == R"(functions
  g
    externs in place one
)");
}

TEST_CASE("A report counts the barriers that a kernel ends with", "[attributes]") {
  TwoKernels a;
  SetBarriers(a.input, a.k, 1);
  SetBarriers(a.input, a.g, 5);
  const Linked linked({&a.input});
  const auto barriers_of = [&](std::size_t kernel) {
    return internal::BarriersOf(linked.passes.program, linked.passes.attributes,
                                linked.passes.liveness.kernels[kernel]);
  };
  CHECK(barriers_of(0) == 5);
  CHECK(barriers_of(1) == 0);
}

}  // namespace
}  // namespace devlink::testing
