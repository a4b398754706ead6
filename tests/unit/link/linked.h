// SPDX-License-Identifier: Apache-2.0
//
// Inputs made by hand, merged and taken through the passes of an executable.
#pragma once

#include <initializer_list>

#include "link/attributes.h"
#include "link/call_graph.h"
#include "link/constant_layout.h"
#include "link/liveness.h"
#include "link/relocate.h"
#include "link/resources.h"
#include "link/shared_layout.h"
#include "link/texture_layout.h"
#include "unit/merge/merged.h"

namespace devlink::testing {

struct LinkedOptions {
  internal::MergeOptions merge = {.sm = 80};
  std::uint64_t reserved = 0;
  bool debug = false;
};

struct Linked {
  Linked(std::initializer_list<InputBuilder*> inputs, const LinkedOptions& options = {})
      : merged(MergeInputs(inputs, options.merge)),
        program(merged.program()),
        graph(program),
        liveness(internal::FindLiveFunctions(program, graph, options.debug, options.merge.kernels)),
        shared(internal::LayOutShared(program, graph, liveness,
                                      {.reserved = options.reserved, .debug = options.debug})),
        constants(internal::LayOutConstants(program, graph, liveness)),
        textures(internal::LayOutTextures(program, graph, liveness)),
        resources(internal::PropagateResources(program, graph, liveness)),
        attributes(internal::PropagateAttributes(program, graph, liveness)),
        relocated(internal::Relocate(program, liveness, shared, constants, textures)) {}

  Merged merged;
  const internal::Program& program;
  internal::CallGraph graph;
  internal::Liveness liveness;
  internal::SharedLayout shared;
  internal::ConstantLayout constants;
  internal::TextureLayout textures;
  internal::Resources resources;
  internal::Attributes attributes;
  internal::Relocated relocated;
};

}  // namespace devlink::testing
