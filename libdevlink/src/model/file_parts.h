// SPDX-License-Identifier: Apache-2.0
//
// Of the merged file what belongs to no one program in it.
#pragma once

#include <cstdint>
#include <vector>

#include "format/elf_cuda.h"
#include "model/program.h"

namespace devlink::internal {

struct FileParts {
  std::vector<Piece> tool_records;  // of all inputs, in link order (`.note.nv.tkinfo`)
  std::uint32_t cuda_note_flags = format::kShfCuInfo;
  std::vector<std::uint8_t> cuda_note;  // `.note.nv.cuinfo`
  std::vector<std::uint8_t> compat;     // `.nv.compat`
  // What each input says in tag 0b of that section, where cubins have it: for which relatives its
  // code may be finalized on the fast path (docs/mercury.md, "Compatibility").
  std::vector<std::uint64_t> fast_paths;
  // The first input, by number, whose code was made for a relative of the target and cannot run
  // there as it is; kNone where there is none.
  std::uint32_t needs_finalizer = kNone;
};

}  // namespace devlink::internal
