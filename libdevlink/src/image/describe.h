// SPDX-License-Identifier: Apache-2.0
//
// The last step: what all passes found, described as a cubin.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/strings.h"
#include "devlink/experimental/cubin_writer.h"
#include "image/image_settings.h"
#include "link/pass_results.h"
#include "merge/input_maps.h"

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
CubinDescription Describe(std::unique_ptr<PassResults> passes, const ImageSettings& settings);

// The bytes that the inputs have for the output: of a large file nearly all.
std::uint64_t ContentBytes(const PassResults& passes);

// One view of a link, and where the parts of its inputs went.
struct PassedView {
  std::unique_ptr<PassResults> passes;
  InputMaps maps;
};

// The same of an executable with two views. InvalidArgument where code of the Mercury view is
// damaged.
absl::StatusOr<CubinDescription> DescribeTwoViews(PassedView mercury, PassedView sass,
                                                  const ImageSettings& settings);

}  // namespace devlink::internal
