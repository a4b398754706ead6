// SPDX-License-Identifier: Apache-2.0
//
// The last step: what all passes found, written as an executable cubin.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "devlink/experimental/cubin_writer.h"
#include "devlink/link_options.h"
#include "link/attributes.h"
#include "link/call_graph.h"
#include "link/constant_layout.h"
#include "link/liveness.h"
#include "link/relocate.h"
#include "link/resources.h"
#include "link/shared_layout.h"
#include "link/shared_partial.h"

namespace devlink::internal {

// Everything that is known of a link before it is written. All borrowed; the lists of `program` and
// `relocated` that are long and not needed again are freed while the output is described.
struct LinkedProgram {
  Program& program;
  const CallGraph& graph;
  const Liveness& liveness;
  const SharedLayout& shared;
  const ConstantLayout& constants;
  const TextureLayout& textures;
  const Resources& resources;
  const Attributes& attributes;
  Relocated& relocated;
};

// An output that is described but not yet written: all that the passes found may go before the
// buffer for the file is made. Borrows the bytes of the modules.
struct Image {
  CubinWriter writer;
  std::shared_ptr<base::StringArena> names;  // prototypes, too
};

Image DescribeExecutable(const LinkedProgram& linked, const LinkOptions& options);

// A program that is to be linked again; of `linked` only what needs no layout counts.
Image DescribeRelocatable(const LinkedProgram& linked, const PartialSharedLayout& shared,
                          const LinkOptions& options);

}  // namespace devlink::internal
