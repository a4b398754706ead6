// SPDX-License-Identifier: Apache-2.0
#include "link/relocate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/hash_table.h"
#include "format/driver_names.h"
#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "format/views.h"
#include "link/relocation_field.h"

namespace devlink::internal {

namespace {

class Relocator {
 public:
  Relocator(const Program& program, const Liveness& liveness, const SharedLayout& shared,
            const ConstantLayout& constants, const TextureLayout& textures,
            bool lists_constant_uses)
      : program_(program),
        liveness_(liveness),
        shared_(shared),
        constants_(constants),
        textures_(textures),
        lists_constant_uses_(lists_constant_uses),
        resolved_(program, lists_constant_uses) {
    result_.kept_in_list.assign(program.sections.size(), 0);
    // Of many relocations most may be stored and few kept, or the other way round.
    constexpr std::size_t kFew = 32;
    const std::size_t first = std::min(program.relocations.size(), kFew);
    result_.kept.reserve(first);
    result_.patches.reserve(first);
  }

  Relocated Run() {
    // Last arrived first: the order that nvlink's list has.
    const auto& relocations = program_.relocations;
    for (auto relocation = relocations.rbegin(); relocation != relocations.rend(); ++relocation) {
      if (!IsGone(relocation->section)) Handle(*relocation);
    }
    if (!moved_.empty()) GiveToBanks();
    return std::move(result_);
  }

 private:
  bool IsGone(SectionId section) const {
    // Of machine code, those of constants that change place go.
    return (program_.view == format::ViewKind::kSass && constants_.moved.contains(section)) ||
           liveness_.section_removed[section];
  }

  void Handle(const Relocation& relocation) {
    using format::RelocationAction;
    const Symbol& symbol = program_.symbols[relocation.symbol];
    if (IsUnifiedTable(symbol)) {
      // As nvlink does in code. Data that refer to a table would refer to nothing.
      const bool goes = program_.sections[relocation.section].kind == SectionKind::kText ||
                        symbol.name == format::kUnifiedFunctionOffset;
      if (!goes) result_.refused.push_back(relocation);
      return;
    }
    const format::RelocationInfo* info = format::FindRelocation(relocation.type);
    if (info == nullptr) return;
    const bool global = IsGlobalMemory(program_, symbol);
    if (info->action == RelocationAction::kClear) {
      if (!InOutput(relocation.symbol) && HasField(program_, relocation)) {
        StoreBits(relocation, info->parts[0], 0, result_.patches);
      }
      if (!global) return;
    }
    // A part of one, too, which goes with its code.
    const bool function = symbol.type == format::kSttFunc;
    if (function && !InOutput(relocation.symbol)) return Lose(relocation);
    if (IsDropped(*info, global, function)) return;
    if (global || function) {
      return Keep(relocation, info->becomes != 0 ? info->becomes : relocation.type);
    }
    if (StaysInMercuryCode(relocation, symbol)) return Keep(relocation, relocation.type);
    if (info->action == RelocationAction::kApply) {
      return Apply(relocation, *info, ValueOf(relocation, symbol));
    }
    if (info->action == RelocationAction::kKeep && InOutput(relocation.symbol)) {
      return Keep(relocation, info->becomes != 0 ? info->becomes : relocation.type);
    }
    result_.refused.push_back(relocation);
  }

  // What the system keeps of shared memory lies where the system says, which is asked in the end.
  bool StaysInMercuryCode(const Relocation& relocation, const Symbol& symbol) const {
    return symbol.space == format::kStoReservedShared &&
           program_.view == format::ViewKind::kMercury && !HasField(program_, relocation);
  }

  // Whether it is one that the output names and has no symbol for.
  static bool IsUnifiedTable(const Symbol& symbol) {
    return symbol.section == kNone && symbol.function == kNone &&
           format::IsUnifiedTable(symbol.name);
  }

  // Records about code may name functions that are gone.
  void Lose(const Relocation& relocation) {
    const SectionKind kind = program_.sections[relocation.section].kind;
    if (kind != SectionKind::kText && !format::HoldsVariables(kind)) return;
    result_.lost.push_back(relocation);
  }

  // Whether the symbol stands in the output's symbol table.
  bool InOutput(SymbolId id) const {
    const Symbol& symbol = program_.symbols[id];
    if (symbol.function != kNone) return liveness_.live[symbol.function];
    if (symbol.type == format::kSttSection) return true;
    if (symbol.type == format::kSttFunc) return !liveness_.section_removed[symbol.section];
    if (symbol.space == format::kStoShared) {
      const auto place = shared_.places.find(id);
      return place != shared_.places.end() && place->second.symbol_kept;
    }
    return !symbol.constant_size && (symbol.other & format::kStoInternal) == 0;
  }

  void Keep(const Relocation& relocation, std::uint32_t type) {
    if (IsOfLostSection(program_.symbols[relocation.symbol], liveness_, constants_)) {
      result_.refused.push_back(relocation);
      return;
    }
    if (constants_.moved.contains(relocation.section)) {
      moved_[relocation.section].push_back(relocation);
      moved_[relocation.section].back().type = type;
      return;
    }
    KeepRelocation(program_, relocation, type, kNone, result_);
  }

  // Constants of a device function lie in the bank of every kernel that reaches it. So do their
  // relocations, behind the kernel's own and variable by variable, the one of the highest address
  // first.
  void GiveToBanks() {
    base::HashMap<SectionId, std::vector<SymbolId>> variables;
    for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
      const Symbol& symbol = program_.symbols[id];
      if (symbol.type == format::kSttSection || !moved_.contains(symbol.section)) continue;
      variables[symbol.section].push_back(id);
    }
    for (auto& [section, relocations] : moved_) {
      SortByVariable(std::move(variables[section]), relocations);
    }
    for (std::uint32_t i = 0; i < constants_.banks.size(); ++i) {
      for (const SectionId from : constants_.banks[i].appended) {
        const auto moved = moved_.find(from);
        if (moved == moved_.end()) continue;
        for (const Relocation& relocation : moved->second) KeepInBank(relocation, i);
      }
    }
  }

  void SortByVariable(std::vector<SymbolId> variables, std::vector<Relocation>& relocations) const {
    const auto place = [this](SymbolId id) { return program_.symbols[id].value; };
    std::stable_sort(variables.begin(), variables.end(),
                     [&](SymbolId a, SymbolId b) { return place(a) < place(b); });
    const auto variable_of = [&](const Relocation& relocation) {
      return std::upper_bound(
          variables.begin(), variables.end(), relocation.offset,
          [&](std::uint64_t offset, SymbolId variable) { return offset < place(variable); });
    };
    std::stable_sort(
        relocations.begin(), relocations.end(),
        [&](const Relocation& a, const Relocation& b) { return variable_of(a) > variable_of(b); });
  }

  void KeepInBank(Relocation relocation, std::uint32_t bank) {
    const SectionId section = constants_.banks[bank].section;
    relocation.offset += constants_.moved.at(relocation.section);
    relocation.list = section == kNone ? kNone : program_.sections[section].rela;
    if (relocation.list != kNone) {
      return KeepRelocation(program_, relocation, relocation.type, kNone, result_);
    }
    result_.kept_in_banks.push_back({.offset = relocation.offset,
                                     .addend = relocation.addend,
                                     .list = bank,
                                     .type = relocation.type,
                                     .symbol = relocation.symbol});
  }

  void Apply(const Relocation& relocation, const format::RelocationInfo& info,
             std::uint64_t value) {
    const Symbol& symbol = program_.symbols[relocation.symbol];
    Preserve(relocation, symbol);
    if (!HasField(program_, relocation)) return;
    const std::uint64_t bank = format::IsTextureType(symbol.type) ? 0 : BankOf(program_, symbol);
    const bool fits = StoreValue(program_, relocation, info, value, bank, result_.patches);
    if (lists_constant_uses_) ListConstantUse(program_, relocation, value, result_);
    if (!fits && program_.sections[relocation.section].kind != SectionKind::kDebug) {
      result_.overflows.push_back({relocation, value});
    }
  }

  // Lists what is resolved, where the output's symbol table has the symbol.
  void Preserve(const Relocation& relocation, const Symbol& symbol) {
    if (symbol.constant_size || format::IsTextureType(symbol.type)) return;
    if (symbol.space == format::kStoShared && symbol.type != format::kSttSection) {
      const auto place = shared_.places.find(relocation.symbol);
      const bool is_listed = place != shared_.places.end() && place->second.symbol_kept;
      if (!is_listed || IsOfKernel(relocation, symbol)) return;
    }
    if (symbol.section != kNone && constants_.moved.contains(symbol.section)) return;
    resolved_.Add(program_, relocation, result_);
  }

  // `extern x[]` where it has a place for each kernel that comes to the code.
  [[nodiscard]] bool IsOfKernel(const Relocation& relocation, const Symbol& symbol) const {
    if (!symbol.external_shared || shared_.for_debugger) return false;
    const FunctionId function = program_.sections[relocation.section].function;
    return shared_.external_offsets.contains(function);
  }

  [[nodiscard]] std::uint64_t ValueOf(const Relocation& relocation, const Symbol& symbol) const {
    const auto addend = static_cast<std::uint64_t>(relocation.addend);
    if (symbol.type == format::kSttSection) return addend;
    if (symbol.constant_size) return ConstantSize(program_) + addend;
    if (format::IsTextureType(symbol.type)) {
      const auto slot = textures_.offsets.find(relocation.symbol);
      return (slot == textures_.offsets.end() ? 0 : slot->second) + addend;
    }
    if (symbol.space == format::kStoShared) return SharedValue(relocation, symbol) + addend;
    if (symbol.space == format::kStoReservedShared && symbol.section != kNone) {
      return format::kReservedSharedPlace + symbol.value + addend;
    }
    return ConstantValue(symbol) + addend;
  }

  // Where a shared variable lies for the code that refers to it; all bits set where nowhere.
  [[nodiscard]] std::uint64_t SharedValue(const Relocation& relocation,
                                          const Symbol& symbol) const {
    const auto place = shared_.places.find(relocation.symbol);
    if (place != shared_.places.end() && place->second.offset) return *place->second.offset;
    const Section& section = program_.sections[relocation.section];
    if (symbol.external_shared && symbol.section == kNone && section.kind == SectionKind::kText) {
      const auto offset = shared_.external_offsets.find(section.function);
      if (offset != shared_.external_offsets.end()) return offset->second;
    }
    return ~std::uint64_t{0};
  }

  [[nodiscard]] std::uint64_t ConstantValue(const Symbol& symbol) const {
    if (symbol.section == kNone) return symbol.value;
    const auto moved = constants_.moved.find(symbol.section);
    return symbol.value + (moved == constants_.moved.end() ? 0 : moved->second);
  }

  const Program& program_;
  const Liveness& liveness_;
  const SharedLayout& shared_;
  const ConstantLayout& constants_;
  const TextureLayout& textures_;
  const bool lists_constant_uses_;
  const ResolvedLists resolved_;
  base::HashMap<SectionId, std::vector<Relocation>> moved_;  // kept, of moved constants
  Relocated result_;
};

}  // namespace

bool IsOfLostSection(const Symbol& symbol, const Liveness& liveness,
                     const ConstantLayout& constants) {
  return symbol.type == format::kSttSection &&
         (symbol.section == kNone || liveness.section_removed[symbol.section] ||
          constants.moved.contains(symbol.section));
}

Relocated Relocate(const Program& program, const Liveness& liveness, const SharedLayout& shared,
                   const ConstantLayout& constants, const TextureLayout& textures,
                   bool lists_constant_uses) {
  return Relocator(program, liveness, shared, constants, textures, lists_constant_uses).Run();
}

}  // namespace devlink::internal
