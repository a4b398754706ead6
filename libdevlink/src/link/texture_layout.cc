// SPDX-License-Identifier: Apache-2.0
#include "link/texture_layout.h"

#include <algorithm>

#include "base/align.h"
#include "format/elf_cuda.h"
#include "link/list_sort.h"
#include "link/reach.h"

namespace devlink::internal {

namespace {

constexpr std::uint64_t kSlotSize = 4;

// All references in slot order.
std::vector<SymbolId> InSlotOrder(const Program& program) {
  std::vector<SymbolId> out;
  for (const std::uint8_t type :
       {format::kSttCudaTexture, format::kSttCudaSampler, format::kSttCudaSurface}) {
    for (SymbolId id = static_cast<SymbolId>(program.symbols.size()); id-- > 0;) {
      if (program.symbols[id].type == type) out.push_back(id);
    }
  }
  return ListSort(out, [](SymbolId, SymbolId) { return true; });
}

SectionId ParametersOf(const Program& program, FunctionId entry) {
  for (const SectionId id : program.functions[entry].constants) {
    if (IsParameterBank(program.sections[id]) && !program.sections[id].only_if_filled) return id;
  }
  return kNone;
}

// Entries that get slots: those that reach a use, and a link's only entry in any case.
std::vector<FunctionId> FindUsers(const Program& program, const CallGraph& graph,
                                  const Liveness& liveness) {
  std::vector<Holding> holdings;
  for (const Relocation& relocation : program.relocations) {
    const Section& section = program.sections[relocation.section];
    if (section.kind == SectionKind::kText && !liveness.section_removed[relocation.section] &&
        format::IsTextureType(program.symbols[relocation.symbol].type)) {
      holdings.push_back({section.function, 0, 0});
    }
  }
  std::vector<FunctionId> out;
  if (holdings.empty()) return out;
  const auto found = CollectReachable(graph, holdings, liveness.entries);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (liveness.entries[i] == liveness.single_entry || !found[i].empty()) {
      out.push_back(liveness.entries[i]);
    }
  }
  return out;
}

}  // namespace

TextureLayout LayOutTextures(const Program& program, const CallGraph& graph,
                             const Liveness& liveness) {
  TextureLayout layout;
  for (const FunctionId entry : FindUsers(program, graph, liveness)) {
    const SectionId id = ParametersOf(program, entry);
    if (id == kNone) continue;
    const Section& section = program.sections[id];
    layout.banks.push_back({.name = section.name,
                            .section = id,
                            .entry = entry,
                            .flags = section.flags,
                            .size = section.size,
                            .align = section.align,
                            .pieces = {section.pieces.begin(), section.pieces.end()}});
  }
  // Behind the largest bank of all, so that every offset is free in every entry. Code that no user
  // reaches, in functions whose address is taken, gets the same offsets.
  std::uint64_t at = 0;
  for (const FunctionId entry : liveness.entries) {
    const SectionId id = ParametersOf(program, entry);
    if (id != kNone) at = std::max(at, base::AlignUp(program.sections[id].size, kSlotSize));
  }
  for (const SymbolId id : InSlotOrder(program)) {
    layout.slots.push_back({id, at});
    layout.offsets[id] = at;
    at += kSlotSize;
  }
  for (ConstantBank& bank : layout.banks) bank.size = at;
  return layout;
}

}  // namespace devlink::internal
