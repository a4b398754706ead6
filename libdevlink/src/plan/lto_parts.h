// SPDX-License-Identifier: Apache-2.0
//
// Link-time optimization in parts (--lto-partitions): which modules are compiled together, and how
// the parts are compiled at the same time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/environment.h"
#include "devlink/experimental/lto_compiler.h"
#include "plan/link_context.h"

namespace devlink::internal {

// Cuts modules of these sizes, in link order, into runs, and says where each begins. There are as
// many as `most` or as modules, whichever is less. The runs are of about the same weight, and a
// module weighs its size rounded up to a power of two: an edit hardly ever moves another module to
// another part, so that a cache has what the other parts made. Names do not count, since the form
// that nvcc writes does not show them (docs/lto-ir.md).
std::vector<std::size_t> CutIntoParts(std::span<const std::uint64_t> sizes, std::size_t most);

// One job for each part, all with the words and the target of `job`.
std::vector<LtoJob> CutIntoParts(const LtoJob& job, std::size_t most);

// What messages call a result: `lto.cubin`, and of a part also which modules are in it.
std::string NameOfPart(const LtoJob& part, std::size_t parts);

// Whether an input is called as that result or a part of it is.
bool IsLtoResult(std::string_view input);

// What came of a part.
struct CompiledPart {
  LtoOutput output;
  std::chrono::nanoseconds time{};
};

// All parts up to the first that fails, in their order; a failed one is the last. That does not
// depend on the number of threads. One alone is compiled on the caller's thread, whatever memory it
// takes; of several, the largest first, within the memory of `parallel`, as they are estimated.
std::vector<CompiledPart> CompileParts(const LtoCompiler& compiler, std::span<const LtoJob> parts,
                                       const ParallelOptions& parallel, const LinkContext& context);

}  // namespace devlink::internal
