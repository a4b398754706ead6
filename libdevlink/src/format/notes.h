// SPDX-License-Identifier: Apache-2.0
//
// Records of `.note.nv.tkinfo`, in which every tool leaves its name, and of `.note.nv.cuinfo`.
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

// The note of `.note.nv.cuinfo`: the virtual architecture that the code was compiled for, and the
// release of the toolkit as 10 * major + minor.
std::vector<std::uint8_t> EncodeCudaInfo(std::uint16_t virtual_arch, std::uint16_t toolkit);

}  // namespace devlink::format
