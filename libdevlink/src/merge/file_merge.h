// SPDX-License-Identifier: Apache-2.0
//
// What belongs to the file as a whole, whatever programs it holds: notes and `.nv.compat`.
#pragma once

#include <cstdint>

#include "devlink/toolkit_profile.h"
#include "format/nv_compat.h"
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

  // Returns whether nvlink warns that the input limits where the output runs.
  bool Add(const ModuleView& input);
  [[nodiscard]] FileParts Finish() &&;

 private:
  void AddCudaNote(const InputSection& section);
  void DescribeTarget();

  const FileMergeOptions options_;
  format::CompatMerger compat_{options_.profile};
  FileParts parts_;
  bool has_input_ = false;
};

}  // namespace devlink::internal
