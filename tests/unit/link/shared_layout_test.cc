// SPDX-License-Identifier: Apache-2.0
#include "link/shared_layout.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "support/catch.h"
#include "unit/link/program_builder.h"

namespace devlink::testing {
namespace {

internal::SharedLayout LayOut(const ProgramBuilder& builder, std::uint64_t reserved = 0,
                              bool debug = false) {
  const internal::CallGraph graph(builder.program);
  const auto live = internal::FindLiveFunctions(builder.program, graph, debug);
  return internal::LayOutShared(builder.program, graph, live,
                                {.reserved = reserved, .debug = debug});
}

using Offset = std::optional<std::uint64_t>;

TEST_CASE("A kernel without shared memory has no section", "[link]") {
  ProgramBuilder builder;
  builder.AddFunction(true);
  for (const std::uint64_t reserved : {0, 0x400}) {
    const auto layout = LayOut(builder, reserved);
    REQUIRE(layout.kernels.size() == 1);
    CHECK(layout.kernels[0].size == 0);
    CHECK_FALSE(layout.kernels[0].emitted);
    CHECK_FALSE(layout.kernels[0].has_symbol);
  }
}

TEST_CASE("Variables of one kernel lie by alignment, then size", "[link]") {
  ProgramBuilder builder;
  const auto k = builder.AddFunction(true);
  const auto small = builder.AddLocalShared(k, 4, 4);
  const auto wide = builder.AddLocalShared(k, 40, 8);
  const auto narrow = builder.AddLocalShared(k, 8, 8);
  const auto layout = LayOut(builder);
  CHECK(layout.places.at(narrow).offset == Offset(0));
  CHECK(layout.places.at(wide).offset == Offset(8));
  CHECK(layout.places.at(small).offset == Offset(48));
  CHECK(layout.kernels[0].size == 52);
  CHECK(layout.kernels[0].align == 8);
  CHECK(layout.kernels[0].emitted);
}

TEST_CASE("sm_90's reserved bytes are counted where there is shared memory", "[link]") {
  ProgramBuilder builder;
  const auto k = builder.AddFunction(true);
  builder.AddLocalShared(k, 12, 4);
  CHECK(LayOut(builder, 0x400).kernels[0].size == 0x40c);
}

TEST_CASE("No variable lies at the null pointer that is reserved", "[link]") {
  ProgramBuilder builder;
  const auto k = builder.AddFunction(true);
  const auto none = builder.AddFunction(true);
  const auto letter = builder.AddLocalShared(k, 1, 1);
  const auto word = builder.AddLocalShared(k, 4, 4);
  const internal::CallGraph graph(builder.program);
  const auto live = internal::FindLiveFunctions(builder.program, graph, false);
  const auto layout =
      internal::LayOutShared(builder.program, graph, live, {.reserve_null_pointer = true});
  CHECK(layout.places.at(word).offset == Offset(4));
  CHECK(layout.places.at(letter).offset == Offset(8));
  const std::size_t with = live.kernels.front() == none ? 1 : 0;
  CHECK(layout.kernels[with].size == 9);
  CHECK(layout.kernels[1 - with].size == 0);
}

TEST_CASE("Nor does extern x[] that no kernel reaches, with -g", "[link]") {
  ProgramBuilder builder;
  builder.AddFunction(true);
  builder.AddShared(4, 4);  // the section that its symbol lies in
  const auto x = builder.AddExternalShared();
  builder.AddUse(builder.AddFunction(), x);
  const internal::CallGraph graph(builder.program);
  const auto live = internal::FindLiveFunctions(builder.program, graph, true);
  const auto offset = [&](bool reserve) {
    return internal::LayOutShared(builder.program, graph, live,
                                  {.debug = true, .reserve_null_pointer = reserve})
        .places.at(x)
        .offset;
  };
  CHECK(offset(true) == Offset(0x10));
  CHECK(offset(false) == Offset(0));
}

TEST_CASE("extern x[] lies where its alignment allows it, from 13.1 on", "[link]") {
  ProgramBuilder builder;
  const auto k = builder.AddFunction(true);
  const auto m = builder.AddFunction(true);
  const auto f = builder.AddFunction();
  builder.AddCall(k, f);
  builder.AddCall(m, f);
  builder.AddLocalShared(k, 68, 64);
  builder.AddLocalShared(m, 200, 4);
  const auto x = builder.AddExternalShared();
  builder.program.symbols[x].value = 32;  // as ptxas states it
  builder.AddUse(f, x);
  const internal::CallGraph graph(builder.program);
  const auto lay_out = [&](bool debug, bool aligned) {
    const auto live = internal::FindLiveFunctions(builder.program, graph, debug);
    return internal::LayOutShared(builder.program, graph, live,
                                  {.debug = debug, .align_external = aligned});
  };
  const auto live = internal::FindLiveFunctions(builder.program, graph, false);
  const std::size_t of_k = live.kernels.front() == k ? 0 : 1;
  const auto before = lay_out(false, false);
  CHECK(before.external_offsets.at(f) == 0xd0);
  CHECK(before.kernels[of_k].size == 0xd0);
  const auto after = lay_out(false, true);
  CHECK(after.external_offsets.at(f) == 0xe0);
  CHECK(after.kernels[of_k].size == 0x100);
  CHECK(after.kernels[1 - of_k].size == 0xe0);
  CHECK(after.kernels[1 - of_k].align == 32);
  const auto debug = lay_out(true, true);
  CHECK(debug.places.at(x).offset == Offset(0x100));
  CHECK(debug.kernels[1 - of_k].size == 0x100);
}

TEST_CASE("A variable of a file goes to its only user", "[link]") {
  ProgramBuilder builder;
  const auto k = builder.AddFunction(true);
  const auto other = builder.AddFunction(true);
  const auto variable = builder.AddShared(16, 4);
  builder.AddUse(k, variable);
  const auto layout = LayOut(builder);
  CHECK(layout.places.at(variable).section == builder.program.functions[k].shared);
  CHECK(layout.kernels[0].size == 16);
  CHECK(layout.kernels[1].size == 0);
  CHECK_FALSE(layout.module_section_emitted);
  CHECK(builder.program.functions[other].is_kernel);
}

TEST_CASE("A variable that several kernels use lies at one offset", "[link]") {
  ProgramBuilder builder;
  const auto first = builder.AddFunction(true);
  const auto second = builder.AddFunction(true);
  const auto helper = builder.AddFunction();
  builder.AddCall(first, helper);
  builder.AddCall(second, helper);
  const auto small = builder.AddShared(8, 4);
  const auto large = builder.AddShared(64, 4);
  const auto own = builder.AddLocalShared(second, 4, 4);
  builder.AddUse(helper, small);
  builder.AddUse(helper, large);
  const auto layout = LayOut(builder);
  CHECK(layout.places.at(large).offset == Offset(0));
  CHECK(layout.places.at(small).offset == Offset(64));
  CHECK(layout.places.at(small).section == builder.program.module_shared);
  CHECK(layout.places.at(own).offset == Offset(72));
  CHECK(layout.kernels[0].size == 72);
  CHECK(layout.kernels[1].size == 76);
}

TEST_CASE("With -g the section of several kernels' variables is aligned as they are", "[link]") {
  for (const bool dynamic : {false, true}) {
    ProgramBuilder builder;
    const auto k1 = builder.AddFunction(true);
    const auto k2 = builder.AddFunction(true);
    const auto x = builder.AddShared(80, 8);
    builder.AddUse(k1, x);
    builder.AddUse(k2, x);
    if (dynamic) builder.AddExternalShared();
    const auto layout = LayOut(builder, 0, true);
    CHECK(layout.module_section_emitted);
    CHECK(layout.module_section_size == 80);
    CHECK(layout.module_section_align == (dynamic ? 16 : 8));
  }
}

TEST_CASE("Variables that no kernel uses together share memory", "[link]") {
  ProgramBuilder builder;
  for (int i = 0; i < 4; ++i) builder.AddFunction(true);
  const auto a = builder.AddShared(32, 4);
  const auto b = builder.AddShared(16, 4);
  for (const internal::FunctionId f : {0U, 1U}) builder.AddUse(f, a);
  for (const internal::FunctionId f : {2U, 3U}) builder.AddUse(f, b);
  const auto layout = LayOut(builder);
  CHECK(layout.places.at(a).offset == Offset(0));
  CHECK(layout.places.at(b).offset == Offset(0));
  CHECK(layout.kernels[0].size == 32);
  CHECK(layout.kernels[2].size == 16);
}

TEST_CASE("A variable without users has no place", "[link]") {
  ProgramBuilder builder;
  builder.AddFunction(true);
  const auto variable = builder.AddShared(16, 4);
  const auto layout = LayOut(builder);
  CHECK_FALSE(layout.places.at(variable).offset.has_value());
}

TEST_CASE("Dynamic shared memory begins behind everything else", "[link]") {
  ProgramBuilder builder;
  const auto k = builder.AddFunction(true);
  const auto helper = builder.AddFunction();
  const auto alone = builder.AddFunction();
  builder.AddCall(k, helper);
  builder.AddLocalShared(k, 20, 4);
  const auto dynamic = builder.AddExternalShared();
  builder.AddUse(helper, dynamic);
  builder.AddUse(alone, dynamic);  // no kernel gets there
  const auto layout = LayOut(builder);
  REQUIRE(layout.external_offsets.contains(helper));
  CHECK(layout.external_offsets.at(helper) == 32);
  CHECK_FALSE(layout.external_offsets.contains(alone));
  CHECK(layout.kernels[0].size == 32);
  CHECK(layout.kernels[0].align == 16);
}

TEST_CASE("kernels that share a function agree on where dynamic memory begins", "[link]") {
  ProgramBuilder builder;
  const auto first = builder.AddFunction(true);
  const auto second = builder.AddFunction(true);
  const auto helper = builder.AddFunction();
  builder.AddCall(first, helper);
  builder.AddCall(second, helper);
  builder.AddLocalShared(first, 4, 4);
  builder.AddLocalShared(second, 100, 4);
  builder.AddUse(helper, builder.AddExternalShared());
  const auto layout = LayOut(builder);
  CHECK(layout.external_offsets.at(helper) == 112);
  CHECK(layout.kernels[0].size == 112);
  CHECK(layout.kernels[1].size == 112);
}

// Each variable was compared with each that came before, kernel by kernel.
TEST_CASE("Many variables of a function that the last of many kernels call", "[link]") {
  ProgramBuilder builder;
  const auto helper = builder.AddFunction();
  constexpr int kVariables = 30'000;
  for (int i = 0; i < kVariables; ++i) builder.AddUse(helper, builder.AddShared(4, 4));
  for (int i = 0; i < 10'000; ++i) {
    const auto kernel = builder.AddFunction(true);
    if (i >= 9'998) builder.AddCall(kernel, helper);
  }
  const auto layout = LayOut(builder);
  CHECK(layout.kernels.back().size == 4 * kVariables);
  CHECK(layout.kernels.front().size == 0);
}

TEST_CASE("A kernel that nobody asked for gets a section when it comes to need one", "[link]") {
  ProgramBuilder builder;
  const auto lone = builder.AddFunction(true);
  const auto first = builder.AddFunction(true);
  const auto second = builder.AddFunction(true);
  const auto external = builder.AddFunction(true);
  builder.AddFunction(true);
  for (auto& function : builder.program.functions) function.shared = internal::kNone;
  const auto asked_for = builder.AddFunction(true);
  const auto common = builder.AddShared(64, 4);
  const auto own = builder.AddShared(8, 32);
  for (const auto user : {first, second, asked_for}) builder.AddUse(user, common);
  builder.AddUse(lone, own);
  builder.AddUse(external, builder.AddExternalShared());
  const auto layout = LayOut(builder);
  CHECK(layout.without_section == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(layout.kernels[1].align == 32);
  CHECK(layout.kernels[3].align == 16);  // made when the others had theirs
  CHECK(layout.kernels[4].size == 0);
}

// As nvlink goes: from function to function that names a variable, and of those kernels that reach
// it the last one first.
TEST_CASE("Of kernels that come to need a section who names the variable first is first",
          "[link]") {
  ProgramBuilder builder;
  std::vector<internal::FunctionId> kernels;
  for (int i = 0; i < 5; ++i) kernels.push_back(builder.AddFunction(true));
  const auto helper = builder.AddFunction();
  for (auto& function : builder.program.functions) function.shared = internal::kNone;
  const auto common = builder.AddShared(64, 4);
  builder.AddUse(kernels[4], common);
  builder.AddUse(helper, common);
  builder.AddUse(kernels[1], common);
  for (const int caller : {0, 2, 3, 4}) builder.AddCall(kernels[caller], helper);
  CHECK(LayOut(builder).without_section == std::vector<std::uint32_t>{4, 3, 2, 0, 1});
}

}  // namespace
}  // namespace devlink::testing
