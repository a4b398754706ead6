// SPDX-License-Identifier: Apache-2.0
//
// All that is known of a link before its output is described: the merged program and what each
// pass found about it.
#pragma once

#include "link/attributes.h"
#include "link/call_graph.h"
#include "link/constant_layout.h"
#include "link/liveness.h"
#include "link/relocate.h"
#include "link/resources.h"
#include "link/shared_layout.h"
#include "link/texture_layout.h"
#include "model/file_parts.h"
#include "model/program.h"

namespace devlink::internal {

// Owns its values, so that whoever takes it over may free a long list once nothing reads it any
// more: reports and checks read it as const, and the description of the output consumes it.
struct PassResults {
  Program program;
  CallGraph graph;
  Liveness liveness;
  SharedLayout shared;
  ConstantLayout constants;
  TextureLayout textures;
  Resources resources;
  Attributes attributes;
  Relocated relocated;
  FileParts file = {};  // what the merge found besides the program
};

}  // namespace devlink::internal
