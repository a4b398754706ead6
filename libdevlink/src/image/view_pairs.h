// SPDX-License-Identifier: Apache-2.0
//
// What in one view of a program is what in the other. Both are merged from the same inputs by the
// same rules; symbols of an input have the same numbers in its two tables.
#pragma once

#include <vector>

#include "base/hash_table.h"
#include "image/input_bases.h"
#include "merge/input_maps.h"
#include "model/program.h"

namespace devlink::internal {

// Of the Mercury view's symbols, functions and sections those of machine code, by their ids; kNone
// where machine code has none.
struct ViewPairs {
  std::vector<SymbolId> symbols;
  std::vector<FunctionId> functions;
  std::vector<SectionId> sections;

  SectionId mercury_frames = kNone;  // `.debug_frame`
  SectionId sass_frames = kNone;
  InputBases frame_bases;
  SectionId sass_registers = kNone;  // `.nv_debug_info_reg_sass`
  InputBases register_bases;
  base::HashMap<SectionId, InputBases> line_bases;  // of machine code's line tables
};

ViewPairs PairViews(const Program& mercury, const InputMaps& mercury_maps, const Program& sass,
                    const InputMaps& sass_maps);

}  // namespace devlink::internal
