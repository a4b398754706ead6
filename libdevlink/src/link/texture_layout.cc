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

SectionId ParametersOf(const Program& program, FunctionId kernel) {
  for (const SectionId id : program.functions[kernel].constants) {
    if (IsParameterBank(program.sections[id]) && !program.sections[id].only_if_filled) return id;
  }
  return kNone;
}

// Kernels that get slots: those that reach a use, and a link's only kernel in any case, even where
// only functions that the link leaves out have uses.
std::vector<FunctionId> FindUsers(const Program& program, const CallGraph& graph,
                                  const Liveness& liveness) {
  bool used = false;
  std::vector<OwnItem> own_items;
  for (const Relocation& relocation : program.relocations) {
    const Section& section = program.sections[relocation.section];
    if (section.kind != SectionKind::kText ||
        !format::IsTextureType(program.symbols[relocation.symbol].type)) {
      continue;
    }
    used = true;
    if (!liveness.section_removed[relocation.section]) {
      own_items.push_back({section.function, 0, 0});
    }
  }
  std::vector<FunctionId> out;
  if (!used) return out;
  const auto found = CollectReachable(graph, own_items, liveness.kernels);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (liveness.kernels[i] == liveness.single_kernel || !found[i].empty()) {
      out.push_back(liveness.kernels[i]);
    }
  }
  return out;
}

}  // namespace

bool RefersToTextures(const Program& program) {
  return std::any_of(program.symbols.begin(), program.symbols.end(),
                     [](const Symbol& symbol) { return format::IsTextureType(symbol.type); });
}

TextureLayout LayOutTextures(const Program& program, const CallGraph& graph,
                             const Liveness& liveness) {
  TextureLayout layout;
  if (!RefersToTextures(program)) return layout;
  for (const FunctionId kernel : FindUsers(program, graph, liveness)) {
    const SectionId id = ParametersOf(program, kernel);
    if (id == kNone) continue;
    const Section& section = program.sections[id];
    layout.banks.push_back({.name = section.name,
                            .section = id,
                            .kernel = kernel,
                            .flags = section.flags,
                            .size = section.size,
                            .align = section.align,
                            .pieces = {section.pieces.begin(), section.pieces.end()}});
  }
  // Behind the largest bank of all, so that every offset is free in every kernel. Code that no user
  // reaches, in functions whose address is taken, gets the same offsets.
  std::uint64_t at = 0;
  for (const FunctionId kernel : liveness.kernels) {
    const SectionId id = ParametersOf(program, kernel);
    if (id != kNone) at = std::max(at, base::AlignUp(program.sections[id].size, kSlotSize));
  }
  for (const SymbolId id : InSlotOrder(program)) {
    const SectionId code = program.symbols[id].section;
    layout.slots.push_back({id, at, code == kNone ? kNone : program.sections[code].function});
    layout.offsets[id] = at;
    at += kSlotSize;
  }
  for (ConstantBank& bank : layout.banks) bank.size = at;
  return layout;
}

}  // namespace devlink::internal
