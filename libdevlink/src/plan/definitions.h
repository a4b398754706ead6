// SPDX-License-Identifier: Apache-2.0
//
// What no input defines, the caller may: inputs join here that were never added.
#pragma once

#include <vector>

#include "devlink/link_options.h"
#include "input/input_record.h"
#include "plan/assembled_ptx.h"
#include "plan/link_context.h"
#include "plan/selection.h"

namespace devlink::internal {

// Select, over `inputs` and what the context's DefinitionProvider adds to them.
Selection SelectDefined(std::vector<InputRecordRef>& inputs, const LinkOptions& options,
                        const LinkContext& context, AssembledPtx& assembled);

}  // namespace devlink::internal
