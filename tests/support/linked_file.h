// SPDX-License-Identifier: Apache-2.0
//
// A small file as another linker writes it for sm_100 and later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace devlink::testing {

// Attributes; sections that have none are left out.
struct LinkedRecords {
  std::vector<std::uint8_t> module;   // `.nv.info`
  std::vector<std::uint8_t> kernel;   // `.nv.info.k`
  std::vector<std::uint8_t> mercury;  // `.nv.merc.nv.info.k`
};

// Some of each, as of a link of one kernel.
LinkedRecords RecordsOfOne();

struct LinkedShape {
  std::string tool = "another";
  std::string version = "1";  // of the tool
  bool with_names = false;
  std::uint64_t room_before_symbols = 3;
  LinkedRecords records = {};
  std::vector<std::uint8_t> code = std::vector<std::uint8_t>(256);
  std::vector<std::uint8_t> variables = {1, 2, 3, 4, 5, 6};  // six bytes, with their initial values
  std::string kernel = "k";                                  // one letter
  std::optional<std::int64_t> addend = {};  // of a reference of the variables to themselves
  bool refers_to_kernel = false;            // to the kernel instead
  std::vector<std::uint32_t> table = {};    // `.nv.constant2.k`; empty: there is none
};

// What a link for sm_100 makes: two symbol tables, shared bytes, sections without bytes between
// others, segments, offsets of names in the call graph.
std::vector<std::uint8_t> WriteLinkedFile(const LinkedShape& shape);

}  // namespace devlink::testing
