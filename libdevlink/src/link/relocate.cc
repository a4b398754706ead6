// SPDX-License-Identifier: Apache-2.0
#include "link/relocate.h"

#include <algorithm>

#include "format/elf_cuda.h"
#include "format/relocations.h"

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
    for (std::uint32_t i = static_cast<std::uint32_t>(program_.relocations.size()); i-- > 0;) {
      const Relocation& relocation = program_.relocations[i];
      if (!IsObsolete(relocation, i)) Handle(relocation);
    }
    return std::move(result_);
  }

 private:
  // Relocations of sections that are gone, and of bodies that were replaced.
  bool IsObsolete(const Relocation& relocation, std::uint32_t index) const {
    const Section& section = program_.sections[relocation.section];
    if (liveness_.section_removed[relocation.section]) return true;
    if (constants_.moved.contains(relocation.section)) return true;
    if (section.function != kNone &&
        program_.functions[section.function].generation != relocation.generation) {
      return true;
    }
    return index < program_.symbols[relocation.symbol].debug_relocations_dropped_before &&
           section.kind == SectionKind::kDebug &&
           program_.sections[relocation.list].type == format::kShtRela;
  }

  void Handle(const Relocation& relocation) {
    using format::RelocationAction;
    const Symbol& symbol = program_.symbols[relocation.symbol];
    if (symbol.name == "__UFT_OFFSET") return;
    const format::RelocationInfo* info = format::FindRelocation(relocation.type);
    if (info == nullptr) return;
    const bool global = IsGlobalMemory(symbol);
    if (info->action == RelocationAction::kClear) {
      if (!InOutput(relocation.symbol) && !IsOfReplacedBody(relocation)) {
        Store(relocation, info->parts[0], 0);
      }
      if (!global) return;
    }
    const bool function = symbol.function != kNone;
    if (function && !liveness_.live[symbol.function]) return;
    if (!global && (info->action == RelocationAction::kDrop ||
                    (info->action == RelocationAction::kDropUnlessFunction && !function))) {
      return;
    }
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

  // A debug record of a body that another copy replaced: nvlink forgets it as it is, below sm_90
  // (which has a `.nv.compat`).
  bool IsOfReplacedBody(const Relocation& relocation) const {
    const FunctionId function = program_.symbols[relocation.symbol].function;
    return function != kNone && program_.compat == kNone &&
           program_.sections[relocation.section].kind == SectionKind::kDebug &&
           program_.functions[function].generation != relocation.generation;
  }

  // Only the loader knows where it will be.
  bool IsGlobalMemory(const Symbol& symbol) const {
    if (symbol.section != kNone) {
      const SectionKind kind = program_.sections[symbol.section].kind;
      return kind == SectionKind::kGlobal || kind == SectionKind::kGlobalInit;
    }
    return symbol.space != format::kStoShared && symbol.space != format::kStoConstant &&
           symbol.function == kNone && !symbol.constant_size && !format::IsTextureType(symbol.type);
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

  // An alias is written as what it stands for.
  void Keep(const Relocation& relocation, std::uint32_t type) {
    SymbolId symbol = relocation.symbol;
    const FunctionId function = program_.symbols[relocation.symbol].function;
    if (function != kNone && program_.functions[function].alias_of != kNone) {
      symbol = program_.functions[program_.functions[function].alias_of].symbol;
    }
    ++result_.kept_in_list[relocation.list];
    result_.kept.push_back({relocation.offset, relocation.addend, relocation.list, type, symbol});
  }

  void Store(const Relocation& relocation, const format::FieldPart& part, std::uint64_t bits) {
    if (part.width == 0) return;
    result_.patches.push_back(
        {relocation.section, BitField{part.position, part.width}, relocation.offset, bits});
  }

  void Apply(const Relocation& relocation, const format::RelocationInfo& info,
             std::uint64_t value) {
    const bool adds = program_.sections[relocation.list].type == format::kShtRel;
    const std::uint64_t bank = BankOf(program_.symbols[relocation.symbol]);
    for (const format::FieldPart& part : info.parts) {
      const std::uint64_t whole = part.of_bank ? bank : value;
      if (!adds) {
        Store(relocation, part, whole >> part.low_bit);
        continue;
      }
      // Without an addend of its own a relocation adds to what the field holds. Single bytes are
      // added before the value is shifted, all others after.
      const std::uint64_t held = HeldBits(relocation, part);
      const bool byte = part.width == 8;
      Store(relocation, part,
            byte ? (whole + held) >> part.low_bit : (whole >> part.low_bit) + held);
    }
  }

  // What the field holds in the input.
  std::uint64_t HeldBits(const Relocation& relocation, const format::FieldPart& part) const {
    const auto& pieces = program_.sections[relocation.section].pieces;
    auto piece = std::upper_bound(pieces.begin(), pieces.end(), relocation.offset,
                                  [](std::uint64_t at, const Piece& p) { return at < p.offset; });
    if (piece == pieces.begin() || part.width == 0) return 0;
    --piece;
    const base::BoundedReader bytes(piece->bytes);
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < part.width; ++i) {
      const std::uint64_t bit = part.position + i;
      const auto byte = bytes.ReadOrZero<std::uint8_t>(relocation.offset - piece->offset + bit / 8);
      bits |= std::uint64_t{(byte >> (bit % 8)) & 1U} << i;
    }
    return bits;
  }

  [[nodiscard]] std::uint64_t ValueOf(const Relocation& relocation, const Symbol& symbol) const {
    const auto addend = static_cast<std::uint64_t>(relocation.addend);
    if (symbol.type == format::kSttSection) return addend;
    if (symbol.constant_size) return ConstantSize() + addend;
    if (format::IsTextureType(symbol.type)) {
      const auto slot = textures_.offsets.find(relocation.symbol);
      return (slot == textures_.offsets.end() ? 0 : slot->second) + addend;
    }
    if (symbol.space == format::kStoShared) return SharedValue(relocation, symbol) + addend;
    return ConstantValue(symbol) + addend;
  }

  [[nodiscard]] std::uint64_t ConstantSize() const {
    return program_.constant_bank3 == kNone ? ~std::uint64_t{0}
                                            : program_.sections[program_.constant_bank3].size;
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

  // nvlink computes it from the type of any section, not only of constant banks.
  [[nodiscard]] std::uint64_t BankOf(const Symbol& symbol) const {
    constexpr std::uint64_t kShared = 6;
    constexpr std::uint64_t kUndefined = 0x1c;
    if (format::IsTextureType(symbol.type)) return 0;
    if (symbol.section == kNone) return kUndefined;
    const Section& section = program_.sections[symbol.section];
    switch (section.kind) {
      case SectionKind::kConstantBank:
      case SectionKind::kFunctionConstants:
        return section.bank;
      case SectionKind::kEntryShared:
      case SectionKind::kModuleShared:
        return kShared;
      default:
        return (section.type - format::kShtCudaConstant0) & 31;
    }
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
