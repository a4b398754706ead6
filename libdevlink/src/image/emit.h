// SPDX-License-Identifier: Apache-2.0
//
// The last step: what all passes found, written as an executable cubin.
#pragma once

#include <memory>
#include <vector>

#include "base/strings.h"
#include "devlink/experimental/cubin_writer.h"
#include "devlink/link_options.h"
#include "link/pass_results.h"

namespace devlink::internal {

// An output that is described but not yet written: all that the passes found may go before the
// buffer for the file is made. Borrows the bytes of the modules.
struct Image {
  CubinWriter writer;
  // Names that no module has, and prototypes.
  std::vector<std::shared_ptr<const base::StringArena>> names;
};

// What the passes found is freed as far as the description goes: the peak of memory lies here.
Image DescribeExecutable(PassResults&& passes, const LinkOptions& options);

// A program that is to be linked again; of `passes` only what needs no layout counts.
Image DescribeRelocatable(PassResults&& passes, const LinkOptions& options);

}  // namespace devlink::internal
