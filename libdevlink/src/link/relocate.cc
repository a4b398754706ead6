// SPDX-License-Identifier: Apache-2.0
#include "link/relocate.h"

#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "link/relocation_field.h"

namespace devlink::internal {

namespace {

class Relocator {
 public:
  Relocator(const Program& program, const Liveness& liveness, const SharedLayout& shared,
            const ConstantLayout& constants, const TextureLayout& textures)
      : program_(program),
        liveness_(liveness),
        shared_(shared),
        constants_(constants),
        textures_(textures) {
    result_.kept_in_list.assign(program.sections.size(), 0);
  }

  Relocated Run() {
    // Last arrived first: the order that nvlink's list has.
    const auto& relocations = program_.relocations;
    for (auto relocation = relocations.rbegin(); relocation != relocations.rend(); ++relocation) {
      if (!IsGone(relocation->section)) Handle(*relocation);
    }
    return std::move(result_);
  }

 private:
  bool IsGone(SectionId section) const {
    return constants_.moved.contains(section) || liveness_.section_removed[section];
  }

  void Handle(const Relocation& relocation) {
    using format::RelocationAction;
    const Symbol& symbol = program_.symbols[relocation.symbol];
    if (symbol.name == "__UFT_OFFSET") return;
    const format::RelocationInfo* info = format::FindRelocation(relocation.type);
    if (info == nullptr) return;
    const bool global = IsGlobalMemory(program_, symbol);
    if (info->action == RelocationAction::kClear) {
      if (!InOutput(relocation.symbol)) StoreBits(relocation, info->parts[0], 0, result_.patches);
      if (!global) return;
    }
    const bool function = symbol.function != kNone;
    if (function && !liveness_.live[symbol.function]) return;
    if (IsDropped(*info, global, function)) return;
    if (global || function) {
      return Keep(relocation, info->becomes != 0 ? info->becomes : relocation.type);
    }
    if (info->action == RelocationAction::kApply) {
      return Apply(relocation, *info, ValueOf(relocation, symbol));
    }
    if (info->action == RelocationAction::kKeep && InOutput(relocation.symbol)) {
      return Keep(relocation, relocation.type);
    }
    result_.refused.push_back(relocation);
  }

  // Whether the symbol stands in the output's symbol table.
  bool InOutput(SymbolId id) const {
    const Symbol& symbol = program_.symbols[id];
    if (symbol.function != kNone) return liveness_.live[symbol.function];
    if (symbol.type == format::kSttSection) return true;
    if (symbol.space == format::kStoShared) {
      const auto place = shared_.places.find(id);
      return place != shared_.places.end() && place->second.symbol_kept;
    }
    return !symbol.constant_size && (symbol.other & format::kStoInternal) == 0;
  }

  void Keep(const Relocation& relocation, std::uint32_t type) {
    KeepRelocation(program_, relocation, type, kNone, result_);
  }

  void Apply(const Relocation& relocation, const format::RelocationInfo& info,
             std::uint64_t value) {
    const Symbol& symbol = program_.symbols[relocation.symbol];
    const std::uint64_t bank = format::IsTextureType(symbol.type) ? 0 : BankOf(program_, symbol);
    StoreValue(program_, relocation, info, value, bank, result_.patches);
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
  Relocated result_;
};

}  // namespace

Relocated Relocate(const Program& program, const Liveness& liveness, const SharedLayout& shared,
                   const ConstantLayout& constants, const TextureLayout& textures) {
  return Relocator(program, liveness, shared, constants, textures).Run();
}

}  // namespace devlink::internal
