// SPDX-License-Identifier: Apache-2.0
#include "link/constant_layout.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/align.h"
#include "format/sections.h"
#include "format/views.h"
#include "link/entry_set.h"
#include "link/reach.h"

namespace devlink::internal {

namespace {

bool IsCompilerBank(const Section& section) {
  return section.kind == SectionKind::kFunctionConstants && section.bank == format::kCompilerBank;
}

// Where the compiler's constants are before the layout.
struct MergedBanks {
  absl::flat_hash_map<FunctionId, SectionId> of_entry;
  std::vector<Holding> of_functions;  // the item is the section
};

MergedBanks CollectBanks(const Program& program, const Liveness& liveness) {
  MergedBanks banks;
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    const Section& section = program.sections[id];
    if (!IsCompilerBank(section) || liveness.section_removed[id]) continue;
    if (program.functions[section.function].entry) {
      // One that a replaced body left empty is filled again, in its old place.
      banks.of_entry[section.function] = id;
    } else if (!section.stays_in_place) {
      banks.of_functions.push_back({section.function, id, 0});
    }
  }
  return banks;
}

// The banks of entries while constants are appended. An entry is given by its place among the live
// ones.
class EntryBanks {
 public:
  EntryBanks(const Program& program, const Liveness& liveness,
             const absl::flat_hash_map<FunctionId, SectionId>& merged, base::StringArena& names)
      : program_(program),
        liveness_(liveness),
        merged_(merged),
        names_(names),
        index_(liveness.entries.size(), kNone) {}

  [[nodiscard]] std::uint64_t SizeOf(std::uint32_t entry) const {
    if (index_[entry] != kNone) return banks_[index_[entry]].size;
    const Section* own = MergedBankOf(entry);
    return own == nullptr ? 0 : own->size;
  }

  [[nodiscard]] std::uint32_t AlignOf(std::uint32_t entry) const {
    if (index_[entry] != kNone) return banks_[index_[entry]].align;
    const Section* own = MergedBankOf(entry);
    return own == nullptr ? 1 : own->align;
  }

  // Puts the constants of the function that `id` belongs to at `offset` of the entry's bank.
  void Append(std::uint32_t entry, SectionId id, std::uint64_t offset, std::uint32_t align) {
    const Section& callee = program_.sections[id];
    ConstantBank& bank = Open(entry, callee);
    bank.appended.push_back(id);
    for (const Piece& piece : callee.pieces) {
      bank.pieces.push_back({piece.bytes, offset + piece.offset});
    }
    bank.align = align;
    bank.size = base::AlignUp(offset + callee.size, align);
  }

  std::vector<ConstantBank> Take() && {
    std::erase_if(banks_, [](const ConstantBank& bank) { return bank.size == 0; });
    return std::move(banks_);
  }

 private:
  [[nodiscard]] const Section* MergedBankOf(std::uint32_t entry) const {
    const auto own = merged_.find(liveness_.entries[entry]);
    return own == merged_.end() ? nullptr : &program_.sections[own->second];
  }

  ConstantBank& Open(std::uint32_t entry, const Section& callee) {
    if (index_[entry] != kNone) return banks_[index_[entry]];
    index_[entry] = static_cast<std::uint32_t>(banks_.size());
    ConstantBank& bank = banks_.emplace_back();
    bank.entry = liveness_.entries[entry];
    const auto own = merged_.find(bank.entry);
    if (own == merged_.end()) {
      bank.name = names_.Concat(format::CompilerConstantsPrefix(program_.view),
                                program_.symbols[program_.functions[bank.entry].symbol].name);
      bank.flags = callee.flags;
      bank.align = callee.align;
      return bank;
    }
    const Section& section = program_.sections[own->second];
    bank.section = own->second;
    bank.name = section.name;
    bank.flags = section.flags;
    bank.size = section.size;
    bank.align = section.align;
    bank.pieces.assign(section.pieces.begin(), section.pieces.end());
    return bank;
  }

  const Program& program_;
  const Liveness& liveness_;
  const absl::flat_hash_map<FunctionId, SectionId>& merged_;
  base::StringArena& names_;          // of new sections
  std::vector<std::uint32_t> index_;  // into `banks_`
  std::vector<ConstantBank> banks_;
};

}  // namespace

ConstantLayout LayOutConstants(const Program& program, const CallGraph& graph,
                               const Liveness& liveness) {
  ConstantLayout layout;
  layout.null_symbol_value = program.residue.last_packed_constant.value_or(0);
  const MergedBanks merged = CollectBanks(program, liveness);
  if (merged.of_functions.empty()) return layout;

  absl::flat_hash_map<SectionId, EntrySet> users;
  VisitReachable(graph, merged.of_functions, liveness.entries,
                 [&](std::uint32_t entry, std::span<const Found> found) {
                   for (const Found& use : found) {
                     users[use.item].Add(entry, liveness.entries.size());
                   }
                 });

  // Last created first, as nvlink goes.
  const auto names = std::make_shared<base::StringArena>();
  layout.names = names;
  EntryBanks banks(program, liveness, merged.of_entry, *names);
  for (auto holding = merged.of_functions.rbegin(); holding != merged.of_functions.rend();
       ++holding) {
    const Section& callee = program.sections[holding->item];
    std::vector<std::uint32_t> entries = users[holding->item].Sorted();
    std::reverse(entries.begin(), entries.end());
    // The strictest alignment of all banks concerned applies to each of them.
    std::uint32_t align = callee.align;
    for (const std::uint32_t entry : entries) align = std::max(align, banks.AlignOf(entry));
    std::uint64_t offset = 0;
    for (const std::uint32_t entry : entries) {
      offset = std::max(offset, base::AlignUp(banks.SizeOf(entry), align));
    }
    layout.moved[holding->item] = offset;
    const auto discarded = program.residue.discarded_variables.find(holding->item);
    if (discarded != program.residue.discarded_variables.end() && !entries.empty() &&
        !program.residue.last_packed_constant.has_value()) {
      layout.null_symbol_value = offset + discarded->second;
    }
    for (const std::uint32_t entry : entries) banks.Append(entry, holding->item, offset, align);
  }
  layout.banks = std::move(banks).Take();
  return layout;
}

}  // namespace devlink::internal
