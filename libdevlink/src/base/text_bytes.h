// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/bounded_reader.h"

namespace devlink::base {

// The bytes of a text, borrowed.
inline Bytes BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Bytes as a text, borrowed.
inline std::string_view TextOf(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace devlink::base
