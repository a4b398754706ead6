// SPDX-License-Identifier: Apache-2.0
#include "link/fast_path.h"

#include <vector>

#include "format/capsule.h"
#include "format/nv_compat.h"

namespace devlink::internal {

namespace {

bool HasDoubleArithmetic(const Section& code) {
  constexpr std::uint16_t kOpcode = 0x1ff;
  constexpr std::uint16_t kFirstDouble = 0x28;  // DMUL, DADD, DSETP, DFMA
  constexpr std::uint16_t kLastDouble = 0x2b;
  for (const Piece& piece : code.pieces) {
    const base::BoundedReader reader(piece.bytes);
    for (std::uint64_t at = 0; at < piece.bytes.size(); at += format::kInstructionSize) {
      const std::uint16_t opcode = reader.ReadOrZero<std::uint16_t>(at) & kOpcode;
      if (opcode >= kFirstDouble && opcode <= kLastDouble) return true;
    }
  }
  return false;
}

}  // namespace

std::uint64_t CommonFastPath(const Program& sass, const Liveness& liveness,
                             std::span<const std::uint64_t> masks) {
  std::vector<bool> some_doubles(masks.size());  // by input
  std::vector<bool> has_doubles(sass.functions.size());
  const auto input_of = [&](FunctionId f) { return sass.symbols[sass.functions[f].symbol].input; };
  const auto is_limited = [&](FunctionId f) {
    return input_of(f) < masks.size() && masks[input_of(f)] == format::kFastPathOwnTarget;
  };
  for (FunctionId f = 0; f < sass.functions.size(); ++f) {
    if (!sass.IsDefined(f) || !is_limited(f)) continue;
    has_doubles[f] = HasDoubleArithmetic(sass.sections[sass.functions[f].text]);
    if (has_doubles[f]) some_doubles[input_of(f)] = true;
  }
  bool any = false;
  std::uint64_t common = ~std::uint64_t{0};
  for (FunctionId f = 0; f < sass.functions.size(); ++f) {
    if (!sass.IsDefined(f) || !liveness.live[f] || input_of(f) >= masks.size()) continue;
    any = true;
    std::uint64_t mask = masks[input_of(f)];
    if (is_limited(f) && some_doubles[input_of(f)] && !has_doubles[f]) {
      mask = format::kFastPathOwnTarget | format::kFastPathToRelative;
    }
    common &= mask;
  }
  return any ? common : 0;
}

}  // namespace devlink::internal
