// SPDX-License-Identifier: Apache-2.0
//
// Jump tables of bodies that gave way to others. In the Mercury view each entry of a table is a
// relocation of the function's constants, and nvlink keeps those of a replaced body: they then
// stand over the constants of the body that stays, whose table its finalizer overwrites with places
// in code that is gone (docs/mercury.md, "Bodies that went").
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "devlink/diagnostics.h"
#include "devlink/link_options.h"
#include "merge/input_maps.h"
#include "model/program.h"

namespace devlink::internal {

struct SoundInputs {
  std::vector<LinkInput> inputs;
  // A function of which nvlink -r has overwritten a table in machine code; empty where there is
  // none. The Mercury view has it, from which only the finalizer can make it anew.
  std::string lost;
};

// The inputs without such relocations, of which `diagnostics` tell; as they are for who wants
// nvlink's own. `program` is the machine code of these inputs, `maps` says what became of their
// symbols. Internal error where an input cannot be read without them.
absl::StatusOr<SoundInputs> WithoutStaleTables(std::span<const LinkInput> inputs,
                                               const LinkOptions& options, const Program& program,
                                               const InputMaps& maps,
                                               std::vector<Diagnostic>& diagnostics);

}  // namespace devlink::internal
