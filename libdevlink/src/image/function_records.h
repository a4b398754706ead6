// SPDX-License-Identifier: Apache-2.0
//
// What a file says of its functions: the call graph, prototypes, attributes.
#pragma once

#include "image/view_describer.h"
#include "image/view_pairs.h"
#include "link/pass_results.h"

namespace devlink::internal {

// Whether a function has an entry in `.nv.prototype`.
[[nodiscard]] bool HasPrototypes(const PassResults& passes);

// Whether `.nv.info` has a record. Without one, as where every kernel was left out, nvlink does not
// write the section and keeps its name. Records of textures do not count.
[[nodiscard]] bool HasModuleRecord(const PassResults& passes, bool relocatable);

void FillCallGraph(const PassResults& passes, const ViewHandles& handles, CubinWriter& writer);
void FillAttributes(const PassResults& passes, const ViewHandles& handles, bool relocatable,
                    CubinWriter& writer);

// Machine code's attributes in a file with two views: the Mercury view's records in their order,
// with what machine code says of places in code; then what it alone has.
struct SassAttributes {
  const Program& program;
  const ViewPairs& pairs;
  const ViewHandles& handles;  // by machine code's ids
};
// `plain` are the handles of machine code's sections by the Mercury view's ids.
void FillSassAttributes(const PassResults& mercury, const ViewHandles& plain, bool relocatable,
                        const SassAttributes& sass, CubinWriter& writer);

}  // namespace devlink::internal
