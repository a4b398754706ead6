// SPDX-License-Identifier: Apache-2.0
//
// What a file says of itself: the records of the tools, the target, compatibility.
#pragma once

#include "image/image_settings.h"
#include "image/view_describer.h"
#include "model/file_parts.h"

namespace devlink::internal {

void FillFileRecords(const Program& program, const FileParts& file, const ViewHandles& handles,
                     bool relocatable, const ImageSettings& settings, CubinWriter& writer);

}  // namespace devlink::internal
