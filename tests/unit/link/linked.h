// SPDX-License-Identifier: Apache-2.0
//
// Inputs made by hand, merged and taken through the passes of an executable.
#pragma once

#include <initializer_list>
#include <utility>

#include "link/pass_results.h"
#include "link/relocate_partial.h"
#include "link/shared_partial.h"
#include "unit/merge/merged.h"

namespace devlink::testing {

struct LinkedOptions {
  internal::MergeOptions merge = {.sm = 80};
  std::uint64_t reserved = 0;
  bool debug = false;
  ToolkitProfile profile = {};
};

inline internal::PassResults RunPasses(internal::Program program, const LinkedOptions& options) {
  using namespace internal;  // NOLINT: the passes
  CallGraph graph(program);
  Liveness liveness = FindLiveFunctions(
      program, graph, options.debug || options.merge.preserve_resolved, options.merge.kernels);
  const CallGraph followed(program, liveness.unfollowed);
  SharedLayout shared = LayOutShared(program, followed, liveness,
                                     {.reserved = options.reserved,
                                      .debug = options.debug,
                                      .lists_symbols = options.merge.preserve_resolved});
  ConstantLayout constants = LayOutConstants(program, followed, liveness);
  TextureLayout textures = LayOutTextures(program, followed, liveness);
  Resources resources = PropagateResources(program, followed, liveness);
  Attributes attributes = PropagateAttributes(program, followed, liveness, options.profile);
  Relocated relocated = Relocate(program, liveness, shared, constants, textures);
  return {std::move(program),   std::move(graph),      std::move(liveness),
          std::move(shared),    std::move(constants),  std::move(textures),
          std::move(resources), std::move(attributes), std::move(relocated)};
}

// The inputs are called 'a', 'b' and so on.
struct Linked {
  Linked(std::initializer_list<InputBuilder*> builders, const LinkedOptions& options = {})
      : merged(MergeInputs(builders, options.merge)), passes(RunPasses(merged.program(), options)) {
    passes.file = merged.file();
  }

  Merged merged;
  internal::PassResults passes;
};

inline internal::PassResults RunPartialPasses(internal::Program program, bool debug,
                                              bool keep_references) {
  using namespace internal;  // NOLINT: the passes
  CallGraph graph(program);
  Liveness liveness = FindLiveFunctions(program, graph, /*keep_all=*/true);
  SharedLayout shared =
      LayOutSharedPartial(program, liveness, {.debug = debug, .place_external = !keep_references});
  Resources resources = OwnResources(program, liveness);
  Attributes attributes = KeepAttributes(program, graph, liveness);
  Relocated relocated =
      RelocatePartial(program, liveness, shared.partial, {.keep_references = keep_references});
  return {std::move(program),   std::move(graph),      std::move(liveness),
          std::move(shared),    ConstantLayout(),      TextureLayout(),
          std::move(resources), std::move(attributes), std::move(relocated)};
}

// One input taken through the passes of a relocatable link (nvlink -r).
struct LinkedPartial {
  explicit LinkedPartial(InputBuilder& input, bool debug = false, bool keep_references = false)
      : merged(MergeInputs({&input}, {.sm = 80, .relocatable = true})),
        passes(RunPartialPasses(merged.program(), debug, keep_references)) {
    passes.file = merged.file();
  }

  Merged merged;
  internal::PassResults passes;
};

}  // namespace devlink::testing
