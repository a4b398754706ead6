// SPDX-License-Identifier: Apache-2.0
#include "link/constant_layout.h"

#include <algorithm>

#include "base/align.h"
#include "format/views.h"
#include "link/reach.h"

namespace devlink::internal {

namespace {

bool IsCompilerBank(const Section& section) {
  constexpr std::uint8_t kBank = 2;
  return section.kind == SectionKind::kFunctionConstants && section.bank == kBank;
}

}  // namespace

ConstantLayout LayOutConstants(const Program& program, const CallGraph& graph,
                               const Liveness& liveness) {
  ConstantLayout layout;
  layout.null_symbol_value = program.residue.last_packed_constant.value_or(0);
  std::vector<Holding> holdings;
  absl::flat_hash_map<FunctionId, SectionId> bank_of_entry;
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    const Section& section = program.sections[id];
    if (!IsCompilerBank(section) || liveness.section_removed[id]) continue;
    if (program.functions[section.function].entry) {
      // One that a replaced body left empty is filled again, in its old place.
      bank_of_entry[section.function] = id;
    } else if (!section.stays_in_place) {
      holdings.push_back({section.function, id, 0});
    }
  }
  if (holdings.empty()) return layout;

  const auto found = CollectReachable(graph, holdings, liveness.entries);
  absl::flat_hash_map<SectionId, std::vector<std::uint32_t>> users;
  for (std::uint32_t entry = static_cast<std::uint32_t>(found.size()); entry-- > 0;) {
    for (const Found& use : found[entry]) users[use.item].push_back(entry);
  }

  const auto names = std::make_shared<base::StringArena>();
  layout.names = names;
  std::vector<std::uint32_t> bank_index(liveness.entries.size(), kNone);
  const auto size_of = [&](std::uint32_t entry) -> std::uint64_t {
    if (bank_index[entry] != kNone) return layout.banks[bank_index[entry]].size;
    const auto own = bank_of_entry.find(liveness.entries[entry]);
    return own == bank_of_entry.end() ? 0 : program.sections[own->second].size;
  };
  const auto align_of = [&](std::uint32_t entry) -> std::uint32_t {
    if (bank_index[entry] != kNone) return layout.banks[bank_index[entry]].align;
    const auto own = bank_of_entry.find(liveness.entries[entry]);
    return own == bank_of_entry.end() ? 1 : program.sections[own->second].align;
  };
  const auto open_bank = [&](std::uint32_t entry, const Section& callee) -> ConstantBank& {
    if (bank_index[entry] != kNone) return layout.banks[bank_index[entry]];
    bank_index[entry] = static_cast<std::uint32_t>(layout.banks.size());
    ConstantBank& bank = layout.banks.emplace_back();
    bank.entry = liveness.entries[entry];
    const auto own = bank_of_entry.find(bank.entry);
    if (own != bank_of_entry.end()) {
      const Section& section = program.sections[own->second];
      bank.section = own->second;
      bank.name = section.name;
      bank.flags = section.flags;
      bank.size = section.size;
      bank.align = section.align;
      bank.pieces.assign(section.pieces.begin(), section.pieces.end());
    } else {
      bank.name = names->Concat(format::CompilerConstantsPrefix(program.view),
                                program.symbols[program.functions[bank.entry].symbol].name);
      bank.flags = callee.flags;
      bank.align = callee.align;
    }
    return bank;
  };

  // Last created first, as nvlink goes.
  for (auto holding = holdings.rbegin(); holding != holdings.rend(); ++holding) {
    const Section& callee = program.sections[holding->item];
    const std::vector<std::uint32_t>& entries = users[holding->item];
    // The strictest alignment of all banks concerned holds for each of them.
    std::uint32_t align = callee.align;
    for (const std::uint32_t entry : entries) align = std::max(align, align_of(entry));
    std::uint64_t offset = 0;
    for (const std::uint32_t entry : entries) {
      offset = std::max(offset, base::AlignUp(size_of(entry), align));
    }
    layout.moved[holding->item] = offset;
    const auto discarded = program.residue.discarded_variables.find(holding->item);
    if (discarded != program.residue.discarded_variables.end() && !entries.empty() &&
        !program.residue.last_packed_constant.has_value()) {
      layout.null_symbol_value = offset + discarded->second;
    }
    for (const std::uint32_t entry : entries) {
      ConstantBank& bank = open_bank(entry, callee);
      bank.appended.push_back(holding->item);
      for (const Piece& piece : callee.pieces) {
        bank.pieces.push_back({piece.bytes, offset + piece.offset});
      }
      bank.align = align;
      bank.size = base::AlignUp(offset + callee.size, align);
    }
  }
  std::erase_if(layout.banks, [](const ConstantBank& bank) { return bank.size == 0; });
  return layout;
}

}  // namespace devlink::internal
