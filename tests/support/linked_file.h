// SPDX-License-Identifier: Apache-2.0
//
// A small file as another linker writes it for sm_100 and later.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace devlink::testing {

struct LinkedShape {
  std::string tool = "another";
  bool with_names = false;
  std::uint64_t room_before_symbols = 3;
};

// What a link for sm_100 makes: two symbol tables, shared bytes, sections without bytes between
// others, segments, offsets of names in the call graph.
std::vector<std::uint8_t> WriteLinkedFile(const LinkedShape& shape);

}  // namespace devlink::testing
