// SPDX-License-Identifier: Apache-2.0
#include "link/shared_layout.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <ranges>
#include <utility>

#include "base/align.h"
#include "base/hash_table.h"
#include "base/release.h"
#include "format/elf_cuda.h"
#include "format/sections.h"
#include "link/kernel_set.h"
#include "link/list_sort.h"
#include "link/reach.h"
#include "model/module.h"

namespace devlink::internal {

using base::AlignUp;

namespace {

// nvlink tells of all, which may be as many as relocations and kernels together.
constexpr std::size_t kMostUnplaced = 1000;

class SharedLayouter {
 public:
  SharedLayouter(const Program& program, const CallGraph& graph, const Liveness& liveness,
                 const SharedOptions& options)
      : program_(program), graph_(graph), liveness_(liveness), options_(options) {
    layout_.kernels.resize(liveness.kernels.size());
    locals_.resize(liveness.kernels.size());
    start_.assign(liveness.kernels.size(), FirstOffset());
    lacks_section_.reserve(liveness.kernels.size());
    for (std::uint32_t i = 0; i < liveness.kernels.size(); ++i) {
      const Function& kernel = program.functions[liveness.kernels[i]];
      lacks_section_.push_back(kernel.shared == kNone);
      any_lacks_section_ = any_lacks_section_ || lacks_section_.back();
      any_laid_out_ = any_laid_out_ || kernel.is_laid_out;
      if (kernel.is_laid_out) start_[i] = 0;
    }
  }

  SharedLayout Run() {
    layout_.reserved = options_.reserved;
    layout_.for_debugger = options_.debug;
    FindUses();
    FindVariables();
    FindUsers();
    PlaceCommonVariables();
    for (std::uint32_t kernel = static_cast<std::uint32_t>(locals_.size()); kernel-- > 0;) {
      PlaceLocals(kernel);
    }
    layout_.null_symbol_value += unnamed_ * options_.reserved;
    PlaceExternal();
    for (std::uint32_t kernel = 0; kernel < locals_.size(); ++kernel) FinishKernel(kernel);
    FinishModuleSection();
    return std::move(layout_);
  }

 private:
  const Symbol& SymbolOf(SymbolId id) const { return program_.symbols[id]; }
  // A variable of a kernel: a symbol or, behind them by number, one of Program::unnamed_shared.
  struct Local {
    std::uint64_t size = 0;
    std::uint32_t align = 1;
  };
  Local LocalOf(std::uint32_t id) const {
    const auto symbols = static_cast<std::uint32_t>(program_.symbols.size());
    if (id < symbols) return {SymbolOf(id).size, SymbolOf(id).align};
    // All have one symbol, to nvlink, and so the alignment that arrived last.
    const std::vector<UnnamedShared>& all = program_.unnamed_shared;
    return {all[id - symbols].size, all.back().align};
  }
  bool ListsSymbols() const { return options_.debug || options_.lists_symbols; }
  std::uint64_t FirstOffset() const { return options_.reserve_null_pointer ? 1 : 0; }

  // Which functions' code refers to which shared variables.
  void FindUses() {
    base::HashSet<std::pair<FunctionId, SymbolId>> seen;
    for (const Relocation& relocation : program_.relocations) {
      const Symbol& symbol = SymbolOf(relocation.symbol);
      if (symbol.space != format::kStoShared) continue;
      const Section& section = program_.sections[relocation.section];
      if (section.kind != SectionKind::kText) continue;
      if (any_laid_out_) ++references_[{section.function, relocation.symbol}];
      if (!seen.insert({section.function, relocation.symbol}).second) continue;
      referenced_.insert(relocation.symbol);
      if (symbol.external_shared) {
        if (symbol.section == kNone) {
          external_users_.emplace_back(section.function, relocation.symbol);
        }
      } else {
        uses_.push_back({section.function, relocation.symbol, 0});
      }
    }
  }

  void FindVariables() {
    base::HashMap<SectionId, std::uint32_t> kernel_of;
    for (std::uint32_t i = 0; i < liveness_.kernels.size(); ++i) {
      const SectionId shared = program_.functions[liveness_.kernels[i]].shared;
      if (shared != kNone) kernel_of[shared] = i;
    }
    // Variables of a kernel in creation order; those of files once per definition, so that a weak
    // one that a strong one replaced is laid out twice.
    std::uint32_t arrived = 0;  // of those without symbols
    const auto add_arrived = [&](SymbolId before) {
      const std::vector<UnnamedShared>& unnamed = program_.unnamed_shared;
      for (; arrived < unnamed.size() && unnamed[arrived].symbols_before <= before; ++arrived) {
        const auto kernel = kernel_of.find(unnamed[arrived].section);
        const auto id = static_cast<std::uint32_t>(program_.symbols.size()) + arrived;
        if (kernel != kernel_of.end()) locals_[kernel->second].push_back(id);
      }
    };
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      add_arrived(id);
      const Symbol& symbol = SymbolOf(id);
      any_external_ = any_external_ || symbol.external_shared;
      if (symbol.space != format::kStoShared || symbol.section == kNone ||
          symbol.type == format::kSttSection) {
        continue;
      }
      const auto kernel = kernel_of.find(symbol.section);
      if (kernel != kernel_of.end()) locals_[kernel->second].push_back(id);
    }
    add_arrived(kNone);
    for (const SymbolId id : program_.shared_definitions) {
      const Symbol& symbol = SymbolOf(id);
      // `extern x[]` takes part in the sort, but is never placed, defined later or not.
      if (symbol.section == program_.module_shared || symbol.external_shared) {
        variables_.push_back(id);
      }
    }
    variables_ = ListSort(variables_, [this](SymbolId left, SymbolId right) {
      return SymbolOf(left).size > SymbolOf(right).size;
    });
  }

  // Splits the variables of files and functions by how many kernels reach them.
  void FindUsers() {
    users_ = UsersOfItems(graph_, uses_, liveness_.kernels);
    if (any_lacks_section_ || any_laid_out_) FindUsersByFunction();
    base::Release(uses_);
    for (const SymbolId id : variables_) {
      if (SymbolOf(id).external_shared) continue;
      layout_.places[id].section = program_.module_shared;
      if (!referenced_.contains(id)) continue;
      const KernelSet& kernels = users_[id];
      FindKernelsWithoutRoom(id);
      if (kernels.size() == 1) {
        GiveSectionsFor(id);
        kernels.ForEach([&](std::uint32_t kernel) { locals_[kernel].push_back(id); });
      } else {
        of_several_.push_back(id);
        any_module_variable_stays_ = true;
      }
    }
    for (const SymbolId id : of_several_) GiveSectionsFor(id);
  }

  // Reference by reference to the variable, the last kernel first, as nvlink goes.
  void FindKernelsWithoutRoom(SymbolId variable) {
    if (!any_laid_out_) return;
    for (const FunctionId user : functions_of_[variable]) {
      const auto kernels = users_of_function_.find(user);
      if (kernels == users_of_function_.end()) continue;
      const std::vector<std::uint32_t> sorted = kernels->second.Sorted();
      for (std::uint32_t i = references_[{user, variable}]; i > 0; --i) {
        for (const std::uint32_t kernel : std::views::reverse(sorted)) {
          const FunctionId function = liveness_.kernels[kernel];
          if (!program_.functions[function].is_laid_out) continue;
          if (layout_.unplaced.size() == kMostUnplaced) return;
          layout_.unplaced.push_back({variable, function});
        }
      }
    }
  }

  void FindUsersByFunction() {
    std::vector<OwnItem> functions;
    functions.reserve(uses_.size());
    for (const OwnItem& use : uses_) {
      functions.push_back({use.function, use.function, 0});
      functions_of_[use.item].push_back(use.function);
    }
    users_of_function_ = UsersOfItems(graph_, functions, liveness_.kernels);
  }

  // Function by function, as the inputs' relocations name the variable.
  void GiveSectionsFor(SymbolId variable) {
    const auto functions = functions_of_.find(variable);
    if (functions == functions_of_.end()) return;
    for (const FunctionId function : functions->second) {
      GiveSectionsToUsers(function, users_of_function_);
    }
  }

  void GiveSectionsToUsers(FunctionId function,
                           const base::HashMap<std::uint32_t, KernelSet>& users_of_function) {
    const auto kernels = users_of_function.find(function);
    if (kernels != users_of_function.end()) GiveSections(kernels->second);
  }

  // The last kernel first, as nvlink goes.
  void GiveSections(const KernelSet& kernels) {
    if (!any_lacks_section_) return;
    const auto first = static_cast<std::ptrdiff_t>(layout_.without_section.size());
    kernels.ForEach([&](std::uint32_t kernel) {
      if (!lacks_section_[kernel]) return;
      lacks_section_[kernel] = false;
      layout_.without_section.push_back(kernel);
    });
    std::sort(layout_.without_section.begin() + first, layout_.without_section.end(),
              std::greater<>());
  }

  void GiveSectionsForExternal(const base::HashMap<std::uint32_t, KernelSet>& users_of_function) {
    if (users_of_function.empty()) return;
    for (const auto& [function, symbol] : external_users_) {
      GiveSectionsToUsers(function, users_of_function);
    }
  }

  // A stretch of memory that variables share of which no two are used by one kernel.
  struct Region {
    std::vector<SymbolId> variables;
    std::vector<std::uint64_t> users;  // a bit for each kernel
    std::uint64_t size = 0;
    std::uint32_t align = 1;
  };

  // Largest first, each variable goes into the first region where it meets none that a kernel of
  // its own uses; those that only dead code uses meet nobody. Regions lie one behind the other.
  void PlaceCommonVariables() {
    std::vector<Region> regions;
    std::vector<std::uint64_t> users;  // of the variable in hand
    // By users: the region that took the last such variable. Those before it met some of these
    // users, and a region never loses any.
    base::HashMap<std::vector<std::uint64_t>, std::size_t> last_of;
    for (const SymbolId variable : of_several_) {
      users.assign((locals_.size() + 63) / 64, 0);
      users_.at(variable).ForEach(
          [&](std::uint32_t kernel) { users[kernel / 64] |= std::uint64_t{1} << (kernel % 64); });
      const auto last = last_of.try_emplace(users, 0).first;
      const auto begin = regions.begin() + static_cast<std::ptrdiff_t>(last->second);
      auto region = std::find_if(begin, regions.end(), [&](const Region& r) {
        for (std::size_t i = 0; i < users.size(); ++i) {
          if ((r.users[i] & users[i]) != 0) return false;
        }
        return true;
      });
      if (region == regions.end()) {
        region = regions.insert(regions.end(), Region());
        region->users.assign(users.size(), 0);
      }
      last->second = static_cast<std::size_t>(region - regions.begin());
      const Symbol& symbol = SymbolOf(variable);
      region->variables.push_back(variable);
      for (std::size_t i = 0; i < users.size(); ++i) region->users[i] |= users[i];
      region->size = std::max(region->size, symbol.size);
      region->align = std::max(region->align, symbol.align);
    }
    std::uint64_t at = FirstOffset();
    for (const Region& region : regions) {
      at = AlignUp(at, region.align);
      for (const SymbolId id : region.variables) layout_.places[id].offset = at;
      at += region.size;
    }
    for (const SymbolId variable : of_several_) {
      const std::uint64_t end = *layout_.places[variable].offset + SymbolOf(variable).size;
      users_.at(variable).ForEach(
          [&](std::uint32_t kernel) { start_[kernel] = std::max(start_[kernel], end); });
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> SortedLocals(
      const std::vector<std::uint32_t>& locals) const {
    const auto stands_before = [](const auto& l, const auto& r) {
      return l.align > r.align || (l.align == r.align && l.size <= r.size);
    };
    if (program_.unnamed_shared.empty()) {  // nearly always
      return ListSort(locals, [&](SymbolId left, SymbolId right) {
        return stands_before(SymbolOf(left), SymbolOf(right));
      });
    }
    return ListSort(locals, [&](std::uint32_t left, std::uint32_t right) {
      return stands_before(LocalOf(left), LocalOf(right));
    });
  }

  // Behind the common variables: alignment descending, then size ascending.
  void PlaceLocals(std::uint32_t kernel) {
    const SectionId section = program_.functions[liveness_.kernels[kernel]].shared;
    KernelShared& out = layout_.kernels[kernel];
    std::uint64_t at = start_[kernel];
    const std::vector<std::uint32_t> sorted = SortedLocals(locals_[kernel]);
    for (const std::uint32_t id : sorted) {
      if (id >= program_.symbols.size()) {
        const Local local = LocalOf(id);
        at = AlignUp(at, local.align);
        PlaceUnnamed(at);
        at += local.size;
        continue;
      }
      const Symbol& symbol = SymbolOf(id);
      at = AlignUp(at, symbol.align);
      SharedPlace& place = layout_.places[id];
      place.offset = at;
      place.section = section;
      if (section == kNone) place.late_kernel = liveness_.kernels[kernel];
      place.symbol_kept = ListsSymbols();
      at += symbol.size;
      out.align = std::max(out.align, symbol.align);
    }
    if (section != kNone && program_.sections[section].is_laid_out) {
      out.align = std::max(out.align, program_.sections[section].align);
    }
    // nvlink makes the sections that only `extern __shared__` needs when this is done.
    if (any_module_variable_stays_ && !lacks_section_[kernel])
      out.align = std::max(out.align, program_.module_shared_align);
    out.size = at;
  }

  // The symbol of what has none is the null symbol.
  void PlaceUnnamed(std::uint64_t at) {
    layout_.null_symbol_value = at;
    ++unnamed_;
  }

  // `extern __shared__` begins at one offset for all kernels that share a function which refers to
  // it.
  void PlaceExternal() {
    if (external_users_.empty()) return;
    // With -g it begins at one offset per symbol instead.
    std::vector<OwnItem> own_items;
    own_items.reserve(external_users_.size());
    base::HashMap<std::uint32_t, std::uint32_t> stated;  // by item: how strictly it is aligned
    for (const auto& [function, symbol] : external_users_) {
      const std::uint32_t item = options_.debug ? symbol : function;
      own_items.push_back({function, item, 0});
      std::uint32_t& align = stated.try_emplace(item, format::kExternalSharedAlign).first->second;
      if (options_.align_external) align = std::max(align, StatedAlign(SymbolOf(symbol)));
    }

    const auto count = static_cast<std::uint32_t>(liveness_.kernels.size());
    std::vector<std::uint32_t> parent(count);
    std::iota(parent.begin(), parent.end(), 0);
    const auto root_of = [&parent](std::uint32_t kernel) {
      while (parent[kernel] != kernel) kernel = parent[kernel] = parent[parent[kernel]];
      return kernel;
    };
    base::HashMap<std::uint32_t, std::uint32_t> kernel_of;  // any one that reaches the item
    std::vector<bool> reaches_any(count, false);
    std::vector<std::uint32_t> align(count, format::kExternalSharedAlign);
    base::HashMap<std::uint32_t, KernelSet> users_of;  // only where it matters
    VisitReachable(graph_, own_items, liveness_.kernels,
                   [&](std::uint32_t kernel, std::span<const ReachedItem> found) {
                     reaches_any[kernel] = true;
                     for (const ReachedItem& use : found) {
                       align[kernel] = std::max(align[kernel], stated[use.item]);
                       if (lacks_section_[kernel]) users_of[use.item].Add(kernel, count);
                       const auto [known, inserted] = kernel_of.try_emplace(use.item, kernel);
                       if (!inserted) parent[root_of(kernel)] = root_of(known->second);
                     }
                   });
    // What the largest kernel of each group has behind its variables, aligned.
    std::vector<std::uint64_t> offset(count, 0);
    const auto agree = [&](const std::function<std::uint64_t(std::uint32_t)>& place_of) {
      for (std::uint32_t kernel = 0; kernel < count; ++kernel) {
        if (!reaches_any[kernel]) continue;
        std::uint64_t& shared = offset[root_of(kernel)];
        shared = std::max(shared, place_of(kernel));
      }
    };
    agree(
        [&](std::uint32_t kernel) { return AlignUp(layout_.kernels[kernel].size, align[kernel]); });
    for (std::uint32_t kernel = 0; kernel < count; ++kernel) {
      if (!reaches_any[kernel]) continue;
      KernelShared& out = layout_.kernels[kernel];
      out.align = std::max(out.align, align[kernel]);
      out.size = offset[root_of(kernel)];
      if (options_.align_external) out.size = AlignUp(out.size, out.align);
    }
    if (options_.debug) {
      agree([&](std::uint32_t kernel) { return layout_.kernels[kernel].size; });
      for (std::uint32_t kernel = 0; kernel < count; ++kernel) {
        if (reaches_any[kernel]) layout_.kernels[kernel].size = offset[root_of(kernel)];
      }
    }
    GiveSectionsForExternal(users_of);
    for (const auto& [item, kernel] : kernel_of) {
      if (options_.debug) {
        layout_.places[item].offset = offset[root_of(kernel)];
      } else {
        layout_.external_offsets[item] = offset[root_of(kernel)];
      }
    }
  }

  // Where anything in the link is `extern __shared__`, an empty section stays if it is aligned as
  // that is, whoever asked for the alignment; and one aligned at least so gets the reserved bytes.
  void FinishKernel(std::uint32_t number) {
    KernelShared& kernel = layout_.kernels[number];
    const Function& function = program_.functions[liveness_.kernels[number]];
    const bool laid_out =
        function.shared != kNone && program_.sections[function.shared].is_laid_out;
    // Nothing but the byte at address 0.
    if (!function.is_laid_out && kernel.size == FirstOffset()) kernel.size = 0;
    const bool marked = any_external_ && kernel.align == format::kExternalSharedAlign;
    if (kernel.size != 0 || (any_external_ && kernel.align >= format::kExternalSharedAlign)) {
      kernel.size += options_.reserved;
    }
    kernel.has_symbol = kernel.size != 0;
    kernel.emitted = kernel.size != 0 || marked || laid_out;
  }

  void FinishModuleSection() {
    if (program_.module_shared == kNone) return;
    std::uint32_t& align = layout_.module_section_align;
    align = any_external_ ? format::kExternalSharedAlign : 1;
    if (any_module_variable_stays_) align = std::max(program_.module_shared_align, align);
    layout_.module_section_emitted =
        any_external_ && layout_.module_section_align == format::kExternalSharedAlign;
    if (!ListsSymbols()) return;
    std::uint64_t& size = layout_.module_section_size;
    for (const SymbolId id : variables_) {
      SharedPlace& place = layout_.places[id];
      if (SymbolOf(id).external_shared) continue;
      if (place.section != program_.module_shared || !place.offset) continue;
      place.symbol_kept = true;
      size = std::max(size, *place.offset + SymbolOf(id).size);
    }
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      if (!SymbolOf(id).external_shared) continue;
      SharedPlace& place = layout_.places[id];
      place.section = program_.module_shared;
      if (options_.debug) {
        // One that no kernel reaches lies where it would in a kernel that has no other.
        place.offset = place.offset.value_or(AlignUp(FirstOffset(), format::kExternalSharedAlign));
        place.symbol_kept = (SymbolOf(id).other & format::kStoInternal) == 0;
      } else {
        // nvlink counts from -1 then, and does not list what stays there.
        place.symbol_kept = options_.reserved != 0 && size != 0;
      }
    }
    if (size == 0 && (options_.reserved == 0 || !layout_.module_section_emitted)) return;
    layout_.external_symbols_shifted = size != 0;
    size += options_.reserved;
    layout_.module_section_emitted = true;
    layout_.module_section_has_symbol = true;
  }

  const Program& program_;
  const CallGraph& graph_;
  const Liveness& liveness_;
  const SharedOptions& options_;
  SharedLayout layout_;
  std::vector<OwnItem> uses_;
  std::vector<std::pair<FunctionId, SymbolId>> external_users_;
  base::HashSet<SymbolId> referenced_;
  std::vector<SymbolId> variables_;           // of `.nv_debug.shared`, largest first
  base::HashMap<SymbolId, KernelSet> users_;  // of variables_: the kernels that reach it
  std::vector<SymbolId> of_several_;          // those not of exactly one kernel
  // Where kernels lack sections: the functions that name a variable, in order of arrival, and the
  // kernels that reach a function.
  base::HashMap<SymbolId, std::vector<FunctionId>> functions_of_;
  base::HashMap<std::uint32_t, KernelSet> users_of_function_;
  std::vector<std::vector<std::uint32_t>> locals_;  // by kernel, as LocalOf() numbers them
  std::uint64_t unnamed_ = 0;                       // of them placed
  std::vector<std::uint64_t> start_;                // by kernel: end of its common variables
  std::vector<bool> lacks_section_;                 // by kernel
  bool any_lacks_section_ = false;
  bool any_laid_out_ = false;                                                 // kernels
  base::HashMap<std::pair<FunctionId, SymbolId>, std::uint32_t> references_;  // where any is
  bool any_module_variable_stays_ = false;
  bool any_external_ = false;
};

// Most programs that are made at run time use none.
bool HasNoShared(const Program& program) {
  return program.module_shared == kNone &&
         std::none_of(program.sections.begin(), program.sections.end(),
                      [](const Section& section) { return section.is_laid_out; }) &&
         std::none_of(program.symbols.begin(), program.symbols.end(), [](const Symbol& symbol) {
           return symbol.space == format::kStoShared || symbol.external_shared;
         });
}

}  // namespace

std::uint32_t StatedAlign(const Symbol& external) {
  const bool is_one = base::IsPowerOfTwo(external.value) && external.value <= format::kMaxAlign;
  return is_one ? static_cast<std::uint32_t>(external.value) : 1;
}

SharedLayout LayOutShared(const Program& program, const CallGraph& graph, const Liveness& liveness,
                          const SharedOptions& options) {
  if (HasNoShared(program)) {
    SharedLayout empty;
    empty.kernels.resize(liveness.kernels.size());
    empty.reserved = options.reserved;
    empty.for_debugger = options.debug;
    return empty;
  }
  return SharedLayouter(program, graph, liveness, options).Run();
}

}  // namespace devlink::internal
