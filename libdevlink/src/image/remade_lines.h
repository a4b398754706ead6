// SPDX-License-Identifier: Apache-2.0
//
// Lines of machine code in a file with two views, of functions whose lines say places of other
// code: an input's body was replaced, but its lines stayed. nvlink makes them from the Mercury
// view's (docs/mercury.md, "Lines").
#pragma once

#include "base/hash_table.h"
#include "format/line_table.h"
#include "image/view_pairs.h"
#include "link/pass_results.h"
#include "model/program.h"

namespace devlink::internal {

struct ViewsOfLines {
  const PassResults& mercury;
  const PassResults& sass;
  const ViewPairs& pairs;
  // Functions of the Mercury view whose code nvlink finds under the name of an alias, and so
  // without its places.
  const base::HashSet<FunctionId>& hidden;
};

// Of machine code's `.debug_line` or `.nv_debug_line_sass`; what is not to be found in the tables
// is left as it is.
format::RemadeSequences RemakeLines(const ViewsOfLines& views, SectionId table);

}  // namespace devlink::internal
