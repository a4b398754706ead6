// SPDX-License-Identifier: Apache-2.0
//
// Records of `.note.nv.tkinfo`, in which every tool leaves its name, and of `.note.nv.cuinfo`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "devlink/toolkit_profile.h"

namespace devlink::format {

inline constexpr std::string_view kToolNoteName = ".note.nv.tkinfo";
inline constexpr std::string_view kCudaNoteName = ".note.nv.cuinfo";
// Of cubins for sm_100 and later from CUDA 12.8 and 12.9.
inline constexpr std::string_view kOldCudaNoteName = ".note.nv.cuver";

struct ToolRecord {
  std::string object;  // what nvlink -g records as output name; else empty
  std::string tool;
  std::string version;
  std::string build;
  std::string options;
};

// The record as bytes: note header, vendor, five strings with their offsets, padded to words.
std::vector<std::uint8_t> EncodeToolRecord(const ToolRecord& record);

// The records of a section one after the other; nothing where one is cut or lacks one of its
// strings.
std::optional<std::vector<ToolRecord>> ReadToolRecords(base::Bytes note);

// devlink's own record of a link with these options. It takes exactly the room of that of the
// profile's nvlink, so that nothing behind it moves. `tool` is a name that the user gave the
// linker.
std::vector<std::uint8_t> EncodeOwnRecord(const ToolkitProfile& profile, std::string_view object,
                                          std::string_view options,
                                          const std::optional<std::string>& tool = {});

// What `.note.nv.cuinfo` says (docs/cubin-format.md, "Notes and the tool record").
struct CudaInfo {
  std::uint16_t virtual_arch = 0;  // that the code was compiled for, 80 for compute_80
  std::uint16_t toolkit = 0;       // 10 * major + minor
  bool is_current = true;          // the form that 13.0 writes, which also says the toolkit
};
std::vector<std::uint8_t> EncodeCudaInfo(const CudaInfo& info);
// Nothing where the section is cut off.
std::optional<CudaInfo> ReadCudaInfo(base::Bytes note);
// Changes a note that ReadCudaInfo reads, and nothing else of it.
void PatchCudaInfo(const CudaInfo& info, std::vector<std::uint8_t>& note);

}  // namespace devlink::format
