// SPDX-License-Identifier: Apache-2.0
//
// Small line tables, as assemblers write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace devlink::testing {

inline constexpr std::size_t kLineHeader = 27;  // of a unit, from its first byte to its program
inline constexpr std::size_t kLineAddress = 3;  // of a sequence: where its address stands

// A sequence that sets an address, advances, adds so many more rows, and ends.
inline std::vector<std::uint8_t> LineSequence(std::uint8_t line, unsigned more_rows = 0) {
  std::vector<std::uint8_t> out = {0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0};
  const auto append = [&out](const std::vector<std::uint8_t>& bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  append({3, line, 9, 16, 0, 1});  // advance_line, fixed_advance_pc, copy
  for (unsigned i = 0; i < more_rows; ++i) append({3, 1, 9, 16, 0, 1});
  append({2, 0x81, 1, 0, 1, 1});  // advance_pc, end_sequence
  return out;
}

// A unit of sequences. `step` is the smallest step of addresses that its head names.
inline std::vector<std::uint8_t> LineUnit(const std::vector<std::vector<std::uint8_t>>& sequences,
                                          std::uint8_t step = 1) {
  const auto append32 = [](std::size_t value, std::vector<std::uint8_t>& out) {
    for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  };
  std::vector<std::uint8_t> rest = {2, 0};
  append32(kLineHeader - 10, rest);
  const std::vector<std::uint8_t> head = {step, 1, 0xfb, 14, 10, 0, 1, 1, 1,
                                          1,    0, 0,    0,  1,  0, 0, 0};
  rest.insert(rest.end(), head.begin(), head.end());
  for (const auto& sequence : sequences) rest.insert(rest.end(), sequence.begin(), sequence.end());
  std::vector<std::uint8_t> out;
  append32(rest.size(), out);
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace devlink::testing
