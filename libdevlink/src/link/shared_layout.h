// SPDX-License-Identifier: Apache-2.0
//
// Pass 4: where each kernel's shared memory lies.
//
// Variables of one kernel lie in its `.nv.shared.E`. Variables of files and of device functions
// come in `.nv_debug.shared`: one that a single kernel reaches becomes a variable of that kernel,
// one that several reach gets the same offset in all of them. `extern __shared__` begins behind
// everything else.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash_table.h"
#include "link/call_graph.h"
#include "link/liveness.h"

namespace devlink::internal {

struct SharedPlace {
  std::optional<std::uint64_t> offset;  // nothing: no code refers to it
  SectionId section = kNone;            // whose symbol it is, or of a kernel that has no section
  FunctionId late_kernel = kNone;       // yet (SharedLayout::without_section): whose memory it is
  bool symbol_kept = false;  // with -g and -preserve-relocs: in the output's symbol table
};

struct KernelShared {
  std::uint64_t size = 0;  // what the section header says
  std::uint32_t align = 1;
  bool emitted = false;
  bool has_symbol = false;
};

// A section of shared memory as its header describes it.
struct SharedSize {
  std::uint64_t size = 0;
  std::uint32_t align = 1;
  bool emitted = false;
  bool has_symbol = false;
};

// A symbol that nvlink makes up for `extern __shared__` of one kernel.
struct ExternalInstance {
  FunctionId kernel = kNone;
  std::uint64_t value = 0;
  bool global_part = false;  // of the symbol table
};

// What the output of a partial link (nvlink -r) says of shared memory, which the next link lays
// out.
struct PartialSharedLayout {
  base::HashMap<SectionId, SharedSize> sections;
  // nvlink's treatment of `extern __shared__` only.
  std::vector<ExternalInstance> instances;                 // in their order
  base::HashMap<FunctionId, std::uint32_t> instance_of;    // by kernel: number in `instances`
  base::HashMap<SymbolId, std::uint64_t> external_values;  // values of the symbols
};

// A variable for which there is no room, since an assembler laid the kernel out without it.
struct UnplacedShared {
  SymbolId variable = kNone;
  FunctionId kernel = kNone;
};

struct SharedLayout {
  base::HashMap<SymbolId, SharedPlace> places;
  std::vector<UnplacedShared> unplaced;  // an error
  std::vector<KernelShared> kernels;     // as Liveness::kernels
  // Numbers of kernels that the merge gave no section, because nobody asked for them and they have
  // no variables of their own, but that need one: in the order in which nvlink makes those.
  std::vector<std::uint32_t> without_section;
  // By function that refers to `extern __shared__`: where that begins for it. Functions that no
  // kernel reaches have none.
  base::HashMap<FunctionId, std::uint64_t> external_offsets;
  std::uint64_t reserved = 0;  // bytes in front of `places` that the system keeps
  // What nvlink adds to the value of the null symbol, ConstantLayout::null_symbol_value.
  std::uint64_t null_symbol_value = 0;
  bool for_debugger = false;            // SharedOptions::debug
  bool module_section_emitted = false;  // `.nv_debug.shared`
  bool module_section_has_symbol = false;
  // With -g: symbols of `extern __shared__` count from behind the reserved bytes, as all others do.
  bool external_symbols_shifted = false;
  std::uint64_t module_section_size = 0;
  std::uint32_t module_section_align = 1;

  PartialSharedLayout partial;  // of partial links alone
};

struct SharedOptions {
  std::uint64_t reserved = 0;  // bytes that the system keeps in front (SmTraits)
  bool debug = false;
  bool lists_symbols = false;         // they stand in the symbol table; always with `debug`
  bool reserve_null_pointer = false;  // no variable lies at 0
  bool align_external = false;        // ToolkitProfile::aligns_external_shared
};

// How strictly `extern x[]` is aligned as its symbol's value says, where that is an alignment:
// ptxas 13.1 and later write it there, and nvlink takes the place that it gave it for one. Else 1.
std::uint32_t StatedAlign(const Symbol& external);

SharedLayout LayOutShared(const Program& program, const CallGraph& graph, const Liveness& liveness,
                          const SharedOptions& options);

}  // namespace devlink::internal
