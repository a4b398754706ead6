// SPDX-License-Identifier: Apache-2.0
//
// What reading an input depends on.
#pragma once

#include <memory>
#include <string>

#include "base/memory_lease.h"
#include "base/severity_policy.h"
#include "devlink/arch.h"
#include "devlink/toolkit_profile.h"
#include "format/compression.h"
#include "input/archive.h"

namespace devlink::internal {

struct InputSettings {
  Arch target;
  // The target in nvlink's messages: `sm_90`, or `compute_90` where inputs are only checked.
  std::string target_name;
  ToolkitProfile profile;
  Compatibility compatibility = Compatibility::kDevlink;
  bool lto = false;                 // LTO IR is welcome
  bool accept_newer = false;        // than the profile's release
  bool check_only = false;          // code is chosen as for the virtual architecture
  bool keeps_lists_of_ids = false;  // a register file is to be written: the lists must be sound
  bool suppress_arch_warning = false;
  bool tells_of_no_code = false;  // a note names an input without device code
  base::SeverityPolicy severities;
  FileReader read_file;  // for the members of thin archives; none: they are refused
  // For the members of all inputs, borrowed; none: a new one for each.
  format::ZstdDecompressor* zstd = nullptr;
  // What reading spends, and the record keeps; none: as much as there is.
  std::shared_ptr<base::MemoryLease> memory;

  [[nodiscard]] absl::Status TakeMemory(std::uint64_t bytes) const {
    return memory == nullptr ? absl::OkStatus() : memory->Take(bytes);
  }
};

}  // namespace devlink::internal
