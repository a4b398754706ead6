// SPDX-License-Identifier: Apache-2.0
#include "link/fast_path.h"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "format/nv_compat.h"
#include "support/catch.h"
#include "unit/link/program_builder.h"

namespace devlink::internal {
namespace {

using testing::ProgramBuilder;

constexpr std::uint64_t kOwn = format::kFastPathOwnTarget;
constexpr std::uint64_t kBoth = format::kFastPathOwnTarget | format::kFastPathToRelative;
constexpr std::uint8_t kFloatMultiply = 0x20;
constexpr std::uint8_t kDoubleMultiply = 0x28;

// Functions of some inputs, each with code of one instruction.
struct Linked {
  FunctionId Add(std::uint32_t input, std::uint8_t opcode, bool live = true) {
    const FunctionId f = builder.AddFunction(true);
    Program& program = builder.program;
    program.symbols[program.functions[f].symbol].input = input;
    auto& code = instructions.emplace_back();
    code[0] = opcode;
    code[1] = 0x72;  // its form
    Section& text = program.sections[program.functions[f].text];
    text.size = code.size();
    text.pieces.push_back({code, 0});
    liveness.live.push_back(live);
    return f;
  }
  [[nodiscard]] std::uint64_t Mask(const std::vector<std::uint64_t>& masks) const {
    return CommonFastPath(builder.program, liveness, masks);
  }

  ProgramBuilder builder;
  Liveness liveness;
  std::deque<std::array<std::uint8_t, 16>> instructions;
};

TEST_CASE("The fast path is what all functions that stay have in common", "[fast_path]") {
  Linked linked;
  linked.Add(0, kFloatMultiply);
  linked.Add(1, kFloatMultiply);
  linked.Add(2, kFloatMultiply, false);
  CHECK(linked.Mask({kBoth, kBoth, 0}) == kBoth);
  CHECK(linked.Mask({kBoth, kOwn, 0}) == kOwn);
  CHECK(linked.Mask({kBoth, 0, kBoth}) == 0);
  CHECK(linked.Mask({0x50, 0x10, 0x50}) == 0x10);
}

TEST_CASE("The fast path of no function is closed", "[fast_path]") {
  Linked linked;
  CHECK(linked.Mask({kBoth}) == 0);
  linked.Add(0, kFloatMultiply, false);
  CHECK(linked.Mask({kBoth}) == 0);
  // A function of no input that has a mask says nothing.
  linked.Add(7, kFloatMultiply);
  CHECK(linked.Mask({kBoth}) == 0);
}

TEST_CASE("In a limited file double precision limits its functions only", "[fast_path]") {
  Linked linked;
  linked.Add(0, kFloatMultiply);
  const FunctionId doubles = linked.Add(0, kDoubleMultiply);
  CHECK(linked.Mask({kOwn}) == kOwn);
  linked.liveness.live[doubles] = false;
  CHECK(linked.Mask({kOwn}) == kBoth);
  // Where none of its functions has any, something else limits them all.
  Linked others;
  others.Add(0, kFloatMultiply);
  CHECK(others.Mask({kOwn}) == kOwn);
}

}  // namespace
}  // namespace devlink::internal
