// SPDX-License-Identifier: Apache-2.0
//
// What the options of a link mean for its parts.
#pragma once

#include <string>

#include "devlink/link_options.h"
#include "input/input_record.h"
#include "input/input_settings.h"

namespace devlink::internal {

// The target as nvlink names it: `sm_90`, or `compute_90` where inputs are only checked.
std::string TargetName(const LinkOptions& options);

InputSettings InputSettingsOf(const LinkOptions& options);

// Whether an object takes part only where something needs it: the device runtime.
bool IsOptional(const ObjectRecord& object, const LinkOptions& options);

// Whether kernels or variables are named that the program uses.
bool NamesWhatIsUsed(const LinkOptions& options);

}  // namespace devlink::internal
