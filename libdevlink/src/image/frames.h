// SPDX-License-Identifier: Apache-2.0
//
// `.debug_frame` of machine code in a file with two views. nvlink writes it anew there, from the
// entries of the Mercury view's that stay (docs/mercury.md, "Frames").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bounded_reader.h"
#include "base/hash_table.h"
#include "image/input_bases.h"
#include "link/pass_results.h"
#include "model/program.h"

namespace devlink::internal {

struct FrameView {
  const PassResults& passes;
  SectionId section = kNone;  // its `.debug_frame`
};

struct Frames {
  std::vector<std::uint8_t> bytes;
  struct Address {  // a field for the loader to fill in
    std::uint64_t offset = 0;
    SymbolId function = kNone;  // of the Mercury view
    std::int64_t begin = 0;     // where in it the code begins: 0 but for a part of it
  };
  std::vector<Address> addresses;  // in the order of the Mercury view's relocations
  bool made = false;               // false: the entries cannot be told apart
};

// `function_of`: machine code's function for each of the Mercury view's.
//
// `hidden`: functions of the Mercury view whose code nvlink finds under the name of an alias, and
// so without its frame.
Frames MakeFrames(const FrameView& mercury, const FrameView& sass, const InputBases& bases,
                  std::span<const FunctionId> function_of, const base::HashSet<FunctionId>& hidden);

}  // namespace devlink::internal
