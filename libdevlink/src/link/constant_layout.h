// SPDX-License-Identifier: Apache-2.0
//
// Pass 5: the compiler's own constants (bank 2: double literals, jump tables).
//
// Only kernels have a bank at run time. So the constants of a device function are appended to the
// bank of every kernel that reaches it, at one offset for all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/hash_table.h"
#include "base/strings.h"
#include "link/call_graph.h"
#include "link/liveness.h"

namespace devlink::internal {

struct ConstantBank {
  std::string_view name;
  SectionId section = kNone;  // kNone: the kernel had no bank; one is made after all other sections
  FunctionId kernel = kNone;
  std::uint64_t flags = 0;
  std::uint64_t size = 0;
  std::uint32_t align = 1;
  std::vector<Piece> pieces;
  std::vector<SectionId> appended;  // device functions' banks that it took in
};

struct ConstantLayout {
  // Those that differ from the merged program's; new ones in the order in which they were made.
  std::vector<ConstantBank> banks;
  base::HashMap<SectionId, std::uint64_t> moved;  // device functions' banks: new offset
  // nvlink also moves variables of discarded copies, whose symbol index is 0. So the null symbol
  // ends up with the address of the last one moved. Packing `.nv.constant3` comes after that and
  // overwrites it.
  std::uint64_t null_symbol_value = 0;
  std::shared_ptr<const base::StringArena> names;  // of new sections
  // The copies would take more memory than is allowed. Sizes and offsets are complete, contents are
  // not: such a link ends in an error.
  bool too_large = false;
};

// Ten thousand functions of a few bytes make gigabytes where ten thousand kernels reach them all;
// `max_bytes` is what their copies may take.
ConstantLayout LayOutConstants(const Program& program, const CallGraph& graph,
                               const Liveness& liveness,
                               std::uint64_t max_bytes = std::uint64_t{8} << 30);

}  // namespace devlink::internal
