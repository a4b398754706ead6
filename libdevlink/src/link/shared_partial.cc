// SPDX-License-Identifier: Apache-2.0
#include "link/shared_partial.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/align.h"
#include "format/sections.h"
#include "model/module.h"

namespace devlink::internal {

namespace {

class Describer {
 public:
  Describer(const Program& program, const PartialSharedOptions& options)
      : program_(program), options_(options) {}

  PartialSharedLayout Run() {
    AddUpSizes();
    FindAlignments();
    if (options_.place_external) PlaceExternal();
    for (auto& [id, section] : result_.sections) Finish(id, section);
    return std::move(result_);
  }

 private:
  // Variables count with their sizes; where they will lie is not known.
  void AddUpSizes() {
    for (SectionId id = 0; id < program_.sections.size(); ++id) {
      const Section& section = program_.sections[id];
      if (section.kind == SectionKind::kKernelShared ||
          section.kind == SectionKind::kModuleShared) {
        result_.sections[id].align = section.align;
      }
    }
    for (const SymbolId id : program_.shared_definitions) {
      const Symbol& symbol = program_.symbols[id];
      any_external_ = any_external_ || symbol.external_shared;  // though it came to have a size
      if (symbol.section == kNone) continue;
      SharedSize& section = result_.sections[symbol.section];
      section.size += symbol.size;
      section.align = std::max(section.align, symbol.align);
    }
  }

  // A kernel's memory is aligned as strictly as the variables of any file.
  void FindAlignments() {
    std::uint32_t strictest = 1;
    for (const SymbolId id : program_.shared_definitions) {
      const Symbol& symbol = program_.symbols[id];
      if (symbol.section != kNone && symbol.section == program_.module_shared) {
        strictest = std::max(strictest, symbol.align);
      }
      if (!symbol.external_shared || !options_.place_external) continue;
      // Its alignment, from 13.1 on, or where an earlier nvlink -r has placed it, which nvlink
      // takes for one. It counts although a definition came behind it.
      strictest = std::max(strictest, StatedAlign(symbol));
      placed_before_ = placed_before_ || (symbol.section == kNone && symbol.value != 0);
    }
    for (auto& [id, section] : result_.sections) section.align = std::max(section.align, strictest);
  }

  // What a kernel's code refers to of `extern x[]`.
  struct User {
    FunctionId kernel = kNone;
    std::vector<SymbolId> symbols;
  };

  // In the order in which the first reference of each arrived.
  [[nodiscard]] std::vector<User> FindUsers() const {
    std::vector<User> users;
    base::HashMap<FunctionId, std::size_t> position;
    for (const Relocation& relocation : program_.relocations) {
      const Symbol& symbol = program_.symbols[relocation.symbol];
      const Section& section = program_.sections[relocation.section];
      if (!symbol.external_shared || symbol.section != kNone ||
          section.kind != SectionKind::kText) {
        continue;
      }
      const Function& function = program_.functions[section.function];
      if (!function.is_kernel || function.shared == kNone) continue;
      const auto [known, inserted] = position.try_emplace(section.function, users.size());
      if (inserted) users.push_back({section.function, {}});
      users[known->second].symbols.push_back(relocation.symbol);
    }
    return users;
  }

  // Kernels by what they refer to themselves. Without -g each has an instance of its own; with it
  // those that have a variable in common share one.
  void PlaceExternal() {
    for (const SymbolId id : program_.shared_definitions) {
      const Symbol& symbol = program_.symbols[id];
      if (symbol.section != kNone) continue;
      const bool placed_anew = options_.debug && options_.align_external;
      result_.external_values[id] = placed_anew ? 0 : symbol.value;
    }
    const std::vector<User> users = FindUsers();
    for (const User& user : users) {
      SharedSize& section = SectionOf(user);
      if (options_.reserve_null_pointer && section.size == 0) section.size = 1;
      section.align = std::max(section.align, format::kExternalSharedAlign);
      const std::uint64_t place = PlaceFor(user, section.size);
      section.size = options_.align_external ? base::AlignUp(place, section.align) : place;
      if (options_.debug) continue;
      result_.instance_of[user.kernel] = static_cast<std::uint32_t>(result_.instances.size());
      result_.instances.push_back({user.kernel, place, options_.global_instances});
    }
    if (options_.debug) UniteByVariable(users);
  }

  // Behind `size` bytes.
  [[nodiscard]] std::uint64_t PlaceFor(const User& user, std::uint64_t size) const {
    std::uint64_t align = format::kExternalSharedAlign;
    if (options_.align_external && !options_.debug) {
      for (const SymbolId id : user.symbols) {
        const std::uint64_t stated = StatedAlign(program_.symbols[id]);
        if (stated == 1) continue;
        align = std::max(align, stated);
        size = std::max(size, stated);
      }
    }
    return base::AlignUp(size, align);
  }

  SharedSize& SectionOf(const User& user) {
    return result_.sections[program_.functions[user.kernel].shared];
  }

  void UniteByVariable(const std::vector<User>& users) {
    std::vector<std::size_t> leader(users.size());
    std::iota(leader.begin(), leader.end(), std::size_t{0});
    const auto find = [&leader](std::size_t i) {
      while (leader[i] != i) i = leader[i] = leader[leader[i]];
      return i;
    };
    base::HashMap<SymbolId, std::size_t> first_user;
    for (std::size_t i = 0; i < users.size(); ++i) {
      for (const SymbolId symbol : users[i].symbols) {
        const auto [known, inserted] = first_user.try_emplace(symbol, i);
        if (!inserted) leader[find(i)] = find(known->second);
      }
    }
    std::vector<std::uint64_t> largest(users.size(), 0);
    for (std::size_t i = 0; i < users.size(); ++i) {
      largest[find(i)] = std::max(largest[find(i)], SectionOf(users[i]).size);
    }
    for (std::size_t i = 0; i < users.size(); ++i) SectionOf(users[i]).size = largest[find(i)];
    for (const auto& [symbol, user] : first_user) {
      result_.external_values[symbol] = largest[find(user)];
    }
  }

  // A section is larger than its alignment, which its variables have for a value.
  void Finish(SectionId id, SharedSize& section) const {
    section.has_symbol = section.size != 0;
    const bool for_external =
        options_.place_external && any_external_ && section.align == format::kExternalSharedAlign;
    section.emitted =
        section.size != 0 || for_external || (id == program_.module_shared && placed_before_);
    if (id == program_.module_shared && !any_external_ && section.size == 0) {
      section.emitted = false;
    }
    if (section.size <= section.align) section.size += section.align;
  }

  const Program& program_;
  const PartialSharedOptions& options_;
  PartialSharedLayout result_;
  bool any_external_ = false;
  bool placed_before_ = false;  // one of them, by an earlier nvlink -r
};

}  // namespace

SharedLayout LayOutSharedPartial(const Program& program, const Liveness& liveness,
                                 const PartialSharedOptions& options) {
  SharedLayout out;
  out.partial = Describer(program, options).Run();
  for (const FunctionId kernel : liveness.kernels) {
    KernelShared& size = out.kernels.emplace_back();
    const SectionId shared = program.functions[kernel].shared;
    if (shared == kNone) continue;
    const SharedSize& section = out.partial.sections.at(shared);
    size.emitted = section.emitted;
    size.size = section.size;
  }
  return out;
}

}  // namespace devlink::internal
