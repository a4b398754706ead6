// SPDX-License-Identifier: Apache-2.0
#include "link/shared_partial.h"

#include "report/dump.h"
#include "support/catch.h"
#include "unit/link/linked.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using Variable = InputBuilder::Variable;

std::string SharedOf(InputBuilder& input, bool debug = false, bool keep_references = false) {
  const LinkedPartial linked(input, debug, keep_references);
  return internal::DumpShared(linked.passes.program, linked.passes.shared.partial);
}

Variable Shared(const std::string& name, SectionHandle section, std::uint64_t size,
                std::uint64_t align) {
  return {
      .name = name, .section = section, .space = format::kStoShared, .size = size, .value = align};
}

TEST_CASE("Sizes are added up, and a section is larger than its alignment", "[shared][partial]") {
  InputBuilder a;
  const SectionHandle of_k = a.AddData(".nv.shared.k", 0, a.DefineKernel("k"));
  a.Define(Shared("x", of_k, 20, 4));
  a.Define(Shared("y", of_k, 8, 8));
  const SectionHandle of_l = a.AddData(".nv.shared.l", 0, a.DefineKernel("l"));
  a.Define(Shared("z", of_l, 4, 32));
  a.DefineKernel("m");
  CHECK(SharedOf(a) == R"(sections
  .nv.shared.k size=0x1c align=8 emitted symbol
  .nv.shared.l size=0x24 align=32 emitted symbol
  .nv.shared.m size=0x1 align=1
)");
}

TEST_CASE("Variables of files make the memory of kernels as strictly aligned",
          "[shared][partial]") {
  InputBuilder a;
  a.AddData(".nv.shared.k", 0, a.DefineKernel("k"));
  a.Define(Shared("x", a.AddData(".nv_debug.shared", 0), 4, 64));
  CHECK(SharedOf(a) == R"(sections
  .nv.shared.k size=0x40 align=64
  .nv_debug.shared size=0x44 align=64 emitted symbol
)");
}

// Two kernels, both of which refer to `dynamic`.
struct TwoUsers {
  TwoUsers() {
    const SymbolHandle k = input.DefineKernel("k");
    const SymbolHandle l = input.DefineKernel("l");
    input.Define(Shared("x", input.AddData(".nv.shared.k", 0, k), 20, 4));
    const SymbolHandle dynamic =
        input.Define(Variable{.name = "dynamic", .space = format::kStoShared, .size = 0});
    for (const SymbolHandle user : {k, l}) {
      input.Relocate(input.TextOf(user), 0, kAbs32, dynamic, 0);
    }
  }
  InputBuilder input;
};

TEST_CASE("extern __shared__ begins behind the variables, for each kernel apart",
          "[shared][partial]") {
  TwoUsers a;
  CHECK(SharedOf(a.input) == R"(sections
  .nv.shared.k size=0x20 align=16 emitted symbol
  .nv.shared.l size=0x10 align=16 emitted
  .nv_debug.shared size=0x10 align=16 emitted
extern instances
  k value=0x20
  l value=0x0
extern symbols
  dynamic value=0x0
)");
}

TEST_CASE("With -g kernels that share a variable share its place", "[shared][partial]") {
  TwoUsers a;
  CHECK(SharedOf(a.input, /*debug=*/true) == R"(sections
  .nv.shared.k size=0x20 align=16 emitted symbol
  .nv.shared.l size=0x20 align=16 emitted symbol
  .nv_debug.shared size=0x10 align=16 emitted
extern symbols
  dynamic value=0x20
)");
}

TEST_CASE("The next link places extern __shared__ where that is asked for", "[shared][partial]") {
  TwoUsers a;
  CHECK(SharedOf(a.input, false, /*keep_references=*/true) == R"(sections
  .nv.shared.k size=0x14 align=4 emitted symbol
  .nv.shared.l size=0x1 align=1
  .nv_debug.shared size=0x10 align=16
)");
}

}  // namespace
}  // namespace devlink::testing
