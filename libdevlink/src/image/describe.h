// SPDX-License-Identifier: Apache-2.0
//
// The last step: what all passes found, described as a cubin.
#pragma once

#include <memory>
#include <vector>

#include "base/strings.h"
#include "devlink/experimental/cubin_writer.h"
#include "image/image_settings.h"
#include "link/pass_results.h"

namespace devlink::internal {

// An output that is described but not yet written: all that the passes found may go before the
// first byte is. Borrows the bytes of the modules.
struct CubinDescription {
  CubinWriter writer;
  // Names that no module has, and prototypes.
  std::vector<std::shared_ptr<const base::StringArena>> names;
};

// Takes the results over and frees them as far as the description goes: the peak of memory lies
// here.
CubinDescription Describe(PassResults passes, const ImageSettings& settings);

}  // namespace devlink::internal
