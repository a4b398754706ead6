// SPDX-License-Identifier: Apache-2.0
//
// Pass 4 of a relocatable link (nvlink -r): what the output says of shared memory, which the next
// link lays out (docs/relocatable.md).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/program.h"

namespace devlink::internal {

// A section of shared memory as its header describes it.
struct SharedSize {
  std::uint64_t size = 0;
  std::uint32_t align = 1;
  bool emitted = false;
  bool has_symbol = false;
};

// A symbol that nvlink makes up for `extern __shared__` of one entry.
struct ExternalInstance {
  FunctionId entry = kNone;
  std::uint64_t value = 0;
};

struct PartialSharedLayout {
  absl::flat_hash_map<SectionId, SharedSize> sections;
  // nvlink's treatment of `extern __shared__` only.
  std::vector<ExternalInstance> instances;                       // in their order
  absl::flat_hash_map<FunctionId, std::uint32_t> instance_of;    // by entry: number in `instances`
  absl::flat_hash_map<SymbolId, std::uint64_t> external_values;  // values of the symbols
};

struct SharedAgainOptions {
  bool debug = false;
  // Give `extern __shared__` of an entry a place behind its variables, as nvlink does, although
  // the next link does so too.
  bool place_external = false;
};

PartialSharedLayout LayOutSharedPartial(const Program& program, const SharedAgainOptions& options);

}  // namespace devlink::internal
