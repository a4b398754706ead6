// SPDX-License-Identifier: Apache-2.0
//
// Records of `.note.nv.tkinfo`, in which every tool leaves its name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace devlink::format {

struct ToolRecord {
  std::string object;  // what nvlink -g records as output name; else empty
  std::string tool;
  std::string version;
  std::string build;
  std::string options;
};

// The record as bytes: note header, vendor, five strings with their offsets, padded to words.
std::vector<std::uint8_t> EncodeToolRecord(const ToolRecord& record);

}  // namespace devlink::format
