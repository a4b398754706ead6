// SPDX-License-Identifier: Apache-2.0
#include "link/texture_layout.h"

#include "support/catch.h"
#include "unit/link/program_builder.h"

namespace devlink::testing {
namespace {

internal::TextureLayout LayOutTextures(const ProgramBuilder& builder) {
  const internal::CallGraph graph(builder.program);
  const auto live = internal::FindLiveFunctions(builder.program, graph, /*keep_all=*/false);
  return internal::LayOutTextures(builder.program, graph, live);
}

TEST_CASE("Slots begin behind the parameters of all kernels", "[link]") {
  ProgramBuilder builder;
  const auto user = builder.AddFunction(true);
  const auto other = builder.AddFunction(true);
  builder.AddParameters(user, 0x168);
  builder.AddParameters(other, 0x19a);
  const auto image = builder.AddTexture();
  builder.AddUse(user, image);
  const auto layout = LayOutTextures(builder);
  CHECK(layout.offsets.at(image) == 0x19c);
  REQUIRE(layout.banks.size() == 1);
  CHECK(layout.banks[0].kernel == user);
  CHECK(layout.banks[0].size == 0x1a0);
}

TEST_CASE("A reference that no entry reaches has an offset but no room", "[link]") {
  ProgramBuilder builder;
  const auto a = builder.AddFunction(true);
  const auto b = builder.AddFunction(true);
  const auto aside = builder.AddFunction();
  builder.AddParameters(a, 0x160);
  builder.AddParameters(b, 0x170);
  const auto image = builder.AddTexture();
  builder.AddUse(aside, image);
  const auto layout = LayOutTextures(builder);
  CHECK(layout.offsets.at(image) == 0x170);
  CHECK(layout.banks.empty());
}

}  // namespace
}  // namespace devlink::testing
