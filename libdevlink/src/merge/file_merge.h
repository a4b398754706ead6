// SPDX-License-Identifier: Apache-2.0
//
// What belongs to the file as a whole, whatever programs it holds: notes and `.nv.compat`.
#pragma once

#include <cstdint>

#include "devlink/toolkit_profile.h"
#include "format/nv_compat.h"
#include "format/views.h"
#include "model/file_parts.h"
#include "model/module.h"

namespace devlink::internal {

struct FileMergeOptions {
  std::uint32_t sm = 0;
  bool architecture_specific = false;  // the target is an 'a' one
  ToolkitProfile profile;
};

class FileMerge {
 public:
  explicit FileMerge(const FileMergeOptions& options) : options_(options) {}
  FileMerge(const FileMerge&) = delete;
  FileMerge& operator=(const FileMerge&) = delete;

  // Returns whether nvlink warns that the input limits where the output runs. `is_of_target`: it
  // was compiled for the number of the target, not for a relative's.
  bool Add(const ModuleView& input, bool is_of_target = true);
  // Of a cubin with the old ABI, whose header says what a note says of others.
  void AddOldAbi(std::uint16_t virtual_arch);
  [[nodiscard]] FileParts Finish() &&;

 private:
  void AddCudaNote(const InputSection& section);
  void AddVirtualArch(std::uint16_t virtual_arch);
  void LowerVirtualArch(std::uint16_t virtual_arch);
  void AddFastPath(std::uint64_t mask, bool is_of_target);

  const FileMergeOptions options_;
  const bool two_views_ = format::HasTwoViews(options_.sm);
  format::CompatMerger compat_{options_.profile};
  FileParts parts_;
  bool has_input_ = false;
  bool has_old_abi_ = false;
};

}  // namespace devlink::internal
