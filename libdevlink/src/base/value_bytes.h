// SPDX-License-Identifier: Apache-2.0
//
// Values as their bytes, in files that are made: the other way round from BoundedReader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace devlink::base {

// `out` must reach as far.
template <typename T>
void PutValue(std::vector<std::uint8_t>& out, std::uint64_t offset, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(out.data() + offset, &value, sizeof(value));
}

template <typename T>
void AppendValue(std::vector<std::uint8_t>& out, const T& value) {
  const std::size_t end = out.size();
  out.resize(end + sizeof(value));
  PutValue(out, end, value);
}

}  // namespace devlink::base
