// SPDX-License-Identifier: Apache-2.0
//
// Numbers of variable length, as DWARF has them: seven bits a byte, the lowest first (DWARF
// 2, 7.6).
#pragma once

#include <cstdint>
#include <vector>

#include "base/bounded_reader.h"

namespace devlink::base {

// Reads the number at `at`, which lies behind it afterwards. False where the bytes end, or where it
// has more bits than 64; what it has of a last byte beyond those is lost.
inline bool ReadLeb128(const BoundedReader& reader, std::uint64_t& at, std::uint64_t& out,
                       unsigned& bits) {
  out = 0;
  bits = 0;
  std::uint8_t byte = 0x80;
  for (; (byte & 0x80) != 0; bits += 7) {
    if (bits > 63 || !reader.Read(at++, byte)) return false;
    out |= std::uint64_t{byte & 0x7fU} << bits;
  }
  return true;
}
inline bool ReadLeb128(const BoundedReader& reader, std::uint64_t& at, std::uint64_t& out) {
  unsigned bits = 0;
  return ReadLeb128(reader, at, out, bits);
}
// The same of a number with a sign.
inline bool ReadSignedLeb128(const BoundedReader& reader, std::uint64_t& at, std::int64_t& out) {
  std::uint64_t number = 0;
  unsigned bits = 0;
  if (!ReadLeb128(reader, at, number, bits)) return false;
  const bool is_negative = bits < 64 && (number >> (bits - 1) & 1U) != 0;
  if (is_negative) number |= ~std::uint64_t{0} << bits;
  out = static_cast<std::int64_t>(number);
  return true;
}

inline void AppendLeb128(std::vector<std::uint8_t>& out, std::uint64_t number) {
  do {
    const auto bits = static_cast<std::uint8_t>(number & 0x7f);
    number >>= 7;
    out.push_back(static_cast<std::uint8_t>(bits | (number != 0 ? 0x80 : 0)));
  } while (number != 0);
}
inline void AppendSignedLeb128(std::vector<std::uint8_t>& out, std::int64_t number) {
  for (bool more = true; more;) {
    const auto bits = static_cast<std::uint8_t>(number & 0x7f);
    number >>= 7;
    const bool is_negative = (bits & 0x40) != 0;
    more = number != (is_negative ? -1 : 0);
    out.push_back(static_cast<std::uint8_t>(bits | (more ? 0x80 : 0)));
  }
}

}  // namespace devlink::base
