// SPDX-License-Identifier: Apache-2.0
#include "link/shared_layout.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/align.h"
#include "format/elf_cuda.h"
#include "link/list_sort.h"
#include "link/reach.h"

namespace devlink::internal {

using base::AlignUp;

namespace {

constexpr std::uint32_t kExternalAlign = 16;

class SharedLayouter {
 public:
  SharedLayouter(const Program& program, const CallGraph& graph, const Liveness& liveness,
                 const SharedOptions& options)
      : program_(program), graph_(graph), liveness_(liveness), options_(options) {
    layout_.entries.resize(liveness.entries.size());
    locals_.resize(liveness.entries.size());
    start_.assign(liveness.entries.size(), 0);
  }

  SharedLayout Run() {
    FindUses();
    FindVariables();
    FindUsers();
    PlaceCommonVariables();
    for (std::uint32_t entry = 0; entry < locals_.size(); ++entry) PlaceLocals(entry);
    PlaceExternal();
    for (EntryShared& entry : layout_.entries) FinishEntry(entry);
    FinishModuleSection();
    return std::move(layout_);
  }

 private:
  const Symbol& SymbolOf(SymbolId id) const { return program_.symbols[id]; }

  // Which functions' code refers to which shared variables.
  void FindUses() {
    absl::flat_hash_set<std::pair<FunctionId, SymbolId>> seen;
    for (const Relocation& relocation : program_.relocations) {
      const Symbol& symbol = SymbolOf(relocation.symbol);
      if (symbol.space != format::kStoShared) continue;
      const Section& section = program_.sections[relocation.section];
      if (section.kind != SectionKind::kText ||
          program_.functions[section.function].generation != relocation.generation) {
        continue;
      }
      if (!seen.insert({section.function, relocation.symbol}).second) continue;
      referenced_.insert(relocation.symbol);
      if (symbol.external_shared) {
        if (symbol.section == kNone) {
          external_users_.push_back({section.function, relocation.symbol});
        }
      } else {
        uses_.push_back({section.function, relocation.symbol, 0});
      }
    }
  }

  void FindVariables() {
    absl::flat_hash_map<SectionId, std::uint32_t> entry_of;
    for (std::uint32_t i = 0; i < liveness_.entries.size(); ++i) {
      entry_of[program_.functions[liveness_.entries[i]].shared] = i;
    }
    // Variables of an entry in creation order; those of files once per definition, so that a weak one
    // that a strong one replaced is laid out twice.
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      const Symbol& symbol = SymbolOf(id);
      any_external_ = any_external_ || symbol.external_shared;
      if (symbol.space != format::kStoShared || symbol.section == kNone ||
          symbol.type == format::kSttSection) {
        continue;
      }
      const auto entry = entry_of.find(symbol.section);
      if (entry != entry_of.end()) locals_[entry->second].push_back(id);
    }
    for (const SymbolId id : program_.shared_definitions) {
      const Symbol& symbol = SymbolOf(id);
      // A definition that follows `extern x[]` is never placed.
      if (symbol.section == program_.module_shared && !symbol.external_shared) {
        variables_.push_back(id);
      }
    }
    variables_ = ListSort(variables_, [this](SymbolId left, SymbolId right) {
      return SymbolOf(left).size > SymbolOf(right).size;
    });
  }

  // Splits the variables of files and functions by how many entries reach them.
  void FindUsers() {
    const auto found = CollectReachable(graph_, uses_, liveness_.entries);
    absl::flat_hash_map<SymbolId, std::vector<std::uint32_t>> users;
    for (std::uint32_t entry = 0; entry < found.size(); ++entry) {
      for (const Found& use : found[entry]) users[use.item].push_back(entry);
    }
    for (const SymbolId id : variables_) {
      SharedPlace& place = layout_.places[id];
      place.section = program_.module_shared;
      const auto entries = users.find(id);
      if (entries == users.end()) {
        if (referenced_.contains(id)) place.offset = 0;
        any_module_variable_stays_ = any_module_variable_stays_ || referenced_.contains(id);
      } else if (entries->second.size() == 1) {
        locals_[entries->second.front()].push_back(id);
      } else {
        common_.push_back({id, std::move(entries->second)});
        any_module_variable_stays_ = true;
      }
    }
  }

  struct Interval {
    std::uint64_t begin;
    std::uint64_t end;
  };

  // One after another at the lowest aligned offset that is free in all entries that share it.
  void PlaceCommonVariables() {
    // Entries that share the same variables have the same intervals: one list serves them all.
    std::vector<std::vector<std::uint32_t>> variables_of(locals_.size());
    for (std::uint32_t i = 0; i < common_.size(); ++i) {
      for (const std::uint32_t entry : common_[i].entries) variables_of[entry].push_back(i);
    }
    absl::flat_hash_map<std::vector<std::uint32_t>, std::uint32_t> class_of;
    std::vector<std::uint32_t> entry_class(locals_.size(), 0);
    for (std::uint32_t entry = 0; entry < locals_.size(); ++entry) {
      entry_class[entry] =
          class_of.try_emplace(variables_of[entry], static_cast<std::uint32_t>(class_of.size()))
              .first->second;
    }
    std::vector<std::vector<Interval>> placed(class_of.size());
    for (const Common& variable : common_) {
      std::vector<std::uint32_t> classes;
      for (const std::uint32_t entry : variable.entries) classes.push_back(entry_class[entry]);
      std::sort(classes.begin(), classes.end());
      classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
      std::vector<Interval> taken;
      for (const std::uint32_t c : classes) {
        taken.insert(taken.end(), placed[c].begin(), placed[c].end());
      }
      const Symbol& symbol = SymbolOf(variable.symbol);
      const std::uint64_t at = FirstFit(taken, symbol.size, symbol.align);
      layout_.places[variable.symbol].offset = at;
      for (const std::uint32_t c : classes) placed[c].push_back({at, at + symbol.size});
      for (const std::uint32_t entry : variable.entries) {
        start_[entry] = std::max(start_[entry], at + symbol.size);
      }
    }
  }

  static std::uint64_t FirstFit(std::vector<Interval>& taken, std::uint64_t size,
                                std::uint32_t align) {
    std::sort(taken.begin(), taken.end(), [](const Interval& a, const Interval& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t at = 0;
    for (const Interval& interval : taken) {
      if (AlignUp(at, align) + size <= interval.begin) break;
      at = std::max(at, interval.end);
    }
    return AlignUp(at, align);
  }

  // Behind the common variables: alignment descending, then size ascending.
  void PlaceLocals(std::uint32_t entry) {
    const SectionId section = program_.functions[liveness_.entries[entry]].shared;
    EntryShared& out = layout_.entries[entry];
    std::uint64_t at = start_[entry];
    const auto sorted = ListSort(locals_[entry], [this](SymbolId left, SymbolId right) {
      const Symbol& l = SymbolOf(left);
      const Symbol& r = SymbolOf(right);
      return l.align > r.align || (l.align == r.align && l.size <= r.size);
    });
    for (const SymbolId id : sorted) {
      const Symbol& symbol = SymbolOf(id);
      at = AlignUp(at, symbol.align);
      SharedPlace& place = layout_.places[id];
      place.offset = at;
      place.section = section;
      place.symbol_kept = options_.debug;
      at += symbol.size;
      out.align = std::max(out.align, symbol.align);
    }
    if (any_module_variable_stays_) out.align = std::max(out.align, program_.module_shared_align);
    out.size = at;
  }

  // `extern __shared__` begins at one offset for all entries that share a function which refers to
  // it.
  void PlaceExternal() {
    // With -g it begins at one offset per symbol instead.
    std::vector<Holding> holdings;
    for (const auto& [function, symbol] : external_users_) {
      holdings.push_back({function, options_.debug ? symbol : function, 0});
    }
    const auto found = CollectReachable(graph_, holdings, liveness_.entries);

    std::vector<std::uint32_t> parent(found.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root_of = [&parent](std::uint32_t entry) {
      while (parent[entry] != entry) entry = parent[entry] = parent[parent[entry]];
      return entry;
    };
    absl::flat_hash_map<std::uint32_t, std::uint32_t> entry_of;  // any one that reaches the item
    for (std::uint32_t entry = 0; entry < found.size(); ++entry) {
      for (const Found& use : found[entry]) {
        const auto [known, inserted] = entry_of.try_emplace(use.item, entry);
        if (!inserted) parent[root_of(entry)] = root_of(known->second);
      }
    }
    std::vector<std::uint64_t> offset(found.size(), 0);
    for (std::uint32_t entry = 0; entry < found.size(); ++entry) {
      if (found[entry].empty()) continue;
      std::uint64_t& shared = offset[root_of(entry)];
      shared = std::max(shared, AlignUp(layout_.entries[entry].size, kExternalAlign));
    }
    for (std::uint32_t entry = 0; entry < found.size(); ++entry) {
      if (found[entry].empty()) continue;
      EntryShared& out = layout_.entries[entry];
      out.size = offset[root_of(entry)];
      out.align = std::max(out.align, kExternalAlign);
      out.emitted = true;
    }
    for (const auto& [item, entry] : entry_of) {
      if (options_.debug) {
        layout_.places[item].offset = offset[root_of(entry)];
      } else {
        layout_.external_offsets[item] = offset[root_of(entry)];
      }
    }
  }

  void FinishEntry(EntryShared& entry) const {
    const bool has_external = entry.emitted;
    entry.has_symbol = entry.size != 0 || (has_external && options_.reserved != 0);
    entry.emitted = entry.size != 0 || has_external;
    if (entry.emitted) entry.size += options_.reserved;
  }

  void FinishModuleSection() {
    if (program_.module_shared == kNone) return;
    layout_.module_section_emitted = any_external_;
    if (!options_.debug) return;
    std::uint64_t& size = layout_.module_section_size;
    for (const SymbolId id : variables_) {
      SharedPlace& place = layout_.places[id];
      if (place.section != program_.module_shared || !place.offset) continue;
      place.symbol_kept = true;
      size = std::max(size, *place.offset + SymbolOf(id).size);
    }
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      if (!SymbolOf(id).external_shared) continue;
      SharedPlace& place = layout_.places[id];
      place.offset = place.offset.value_or(0);
      place.section = program_.module_shared;
      place.symbol_kept = true;
    }
    if (size == 0 && (options_.reserved == 0 || !layout_.module_section_emitted)) return;
    size += options_.reserved;
    layout_.module_section_emitted = true;
    layout_.module_section_has_symbol = true;
  }

  struct Common {
    SymbolId symbol;
    std::vector<std::uint32_t> entries;
  };

  const Program& program_;
  const CallGraph& graph_;
  const Liveness& liveness_;
  const SharedOptions& options_;
  SharedLayout layout_;
  std::vector<Holding> uses_;
  std::vector<std::pair<FunctionId, SymbolId>> external_users_;
  absl::flat_hash_set<SymbolId> referenced_;
  std::vector<SymbolId> variables_;            // of `.nv_debug.shared`, largest first
  std::vector<Common> common_;                 // those of several entries
  std::vector<std::vector<SymbolId>> locals_;  // by entry
  std::vector<std::uint64_t> start_;           // by entry: end of its common variables
  bool any_module_variable_stays_ = false;
  bool any_external_ = false;
};

}  // namespace

SharedLayout LayOutShared(const Program& program, const CallGraph& graph, const Liveness& liveness,
                          const SharedOptions& options) {
  return SharedLayouter(program, graph, liveness, options).Run();
}

}  // namespace devlink::internal
