// SPDX-License-Identifier: Apache-2.0
#include "link/relocation_field.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

// What the field holds in the input.
std::uint64_t HeldBits(const Program& program, const Relocation& relocation,
                       const format::FieldPart& part) {
  const auto& pieces = program.sections[relocation.section].pieces;
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

// Types whose fields take one half, or one byte, of a value.
bool TakesPiece(const format::RelocationInfo& info) {
  return info.parts[0].width == 8 || info.name.find("_LO") != std::string_view::npos ||
         info.name.find("_HI") != std::string_view::npos;
}

// As a number with a sign or without one.
bool Fits(std::int64_t value, unsigned width) {
  return width >= 64 || value >> width == 0 || value >> (width - 1) == -1;
}

// Whether the sum fits if what the field held is read in one of both ways.
bool SumFits(std::int64_t value, std::uint64_t held, unsigned width) {
  if (width >= 64) return true;
  const auto without_sign = static_cast<std::int64_t>(held);
  const bool negative = (held >> (width - 1)) != 0;
  return Fits(value + without_sign, width) ||
         (negative && Fits(value + without_sign - (std::int64_t{1} << width), width));
}

}  // namespace

bool IsDropped(const format::RelocationInfo& info, bool to_global, bool to_function) {
  using format::RelocationAction;
  return !to_global && (info.action == RelocationAction::kDrop ||
                        (info.action == RelocationAction::kDropUnlessFunction && !to_function));
}

bool HasField(const Program& program, const Relocation& relocation) {
  return program.view != format::ViewKind::kMercury ||
         program.sections[relocation.section].kind != SectionKind::kText;
}

void ListConstantUse(const Program& program, const Relocation& relocation, std::uint64_t value,
                     Relocated& out) {
  if (!format::IsInCapsule(relocation.type) ||
      program.sections[relocation.section].kind != SectionKind::kText) {
    return;
  }
  out.constant_uses.push_back(
      {relocation.section, static_cast<std::uint16_t>(value & 0xffff), relocation.offset});
}

void KeepRelocation(const Program& program, const Relocation& relocation, std::uint32_t type,
                    std::uint32_t instance, Relocated& out) {
  SymbolId symbol = relocation.symbol;
  const FunctionId function = program.symbols[symbol].function;
  if (function != kNone && program.functions[function].alias_of != kNone) {
    symbol = program.functions[program.functions[function].alias_of].symbol;
  }
  ++out.kept_in_list[relocation.list];
  out.kept.push_back(
      {relocation.offset, relocation.addend, relocation.list, type, symbol, instance});
}

ResolvedLists::ResolvedLists(const Program& program, bool two_views) : of_two_views_(two_views) {
  base::HashMap<std::string_view, SectionId> by_name;  // of what is relocated
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    const Section& section = program.sections[id];
    if (section.type != format::kShtCudaResolvedRela) continue;
    lists_[section.owner] = id;
    by_name.try_emplace(program.sections[section.owner].name, id);
  }
  if (lists_.empty()) return;
  // Where nvlink's behaviour is wanted, functions of one name have one list.
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    const Section& section = program.sections[id];
    if ((section.rel == kNone && section.rela == kNone) || lists_.contains(id)) continue;
    if (const auto list = by_name.find(section.name); list != by_name.end()) {
      lists_[id] = list->second;
    }
  }
}

void ResolvedLists::Add(const Program& program, const Relocation& relocation,
                        Relocated& out) const {
  const auto list = lists_.find(relocation.section);
  const Symbol& symbol = program.symbols[relocation.symbol];
  if (list == lists_.end() || symbol.unlisted) return;
  const bool is_shared = symbol.space == format::kStoShared && symbol.type != format::kSttSection;
  const bool in_code = program.sections[relocation.section].kind == SectionKind::kText;
  if (of_two_views_ && (!is_shared || !in_code)) return;
  Relocation resolved = relocation;
  resolved.list = list->second;
  KeepRelocation(program, resolved, relocation.type, kNone, out);
}

bool IsGlobalMemory(const Program& program, const Symbol& symbol) {
  if (symbol.section != kNone) {
    const SectionKind kind = program.sections[symbol.section].kind;
    return kind == SectionKind::kGlobal || kind == SectionKind::kGlobalInit;
  }
  return symbol.space != format::kStoShared && symbol.space != format::kStoConstant &&
         symbol.function == kNone && !symbol.constant_size && !format::IsTextureType(symbol.type);
}

std::uint64_t ConstantSize(const Program& program) {
  return program.constant_bank3 == kNone ? ~std::uint64_t{0}
                                         : program.sections[program.constant_bank3].size;
}

void StoreBits(const Relocation& relocation, const format::FieldPart& part, std::uint64_t bits,
               std::vector<FieldPatch>& patches) {
  if (part.width == 0) return;
  patches.push_back(
      {relocation.section, BitField{part.position, part.width}, relocation.offset, bits});
}

bool StoreValue(const Program& program, const Relocation& relocation,
                const format::RelocationInfo& info, std::uint64_t value, std::uint64_t bank,
                std::vector<FieldPatch>& patches) {
  const bool adds = program.sections[relocation.list].type == format::kShtRel;
  const bool is_whole = !TakesPiece(info);
  bool fits = true;
  for (const format::FieldPart& part : info.parts) {
    const std::uint64_t whole = part.of_bank ? bank : value;
    const std::uint64_t held = adds ? HeldBits(program, relocation, part) : 0;
    if (is_whole && !part.of_bank && part.width != 0) {
      fits = fits && SumFits(static_cast<std::int64_t>(whole) >> part.low_bit, held, part.width);
    }
    // Single bytes are added before the value is shifted, all others after.
    const bool byte = part.width == 8;
    StoreBits(relocation, part,
              byte ? (whole + held) >> part.low_bit : (whole >> part.low_bit) + held, patches);
  }
  return fits;
}

std::uint64_t BankOf(const Program& program, const Symbol& symbol) {
  constexpr std::uint64_t kShared = 6;
  constexpr std::uint64_t kUndefined = 0x1c;
  if (symbol.section == kNone) return kUndefined;
  const Section& section = program.sections[symbol.section];
  switch (section.kind) {
    case SectionKind::kConstantBank:
    case SectionKind::kFunctionConstants:
      return section.bank;
    case SectionKind::kKernelShared:
    case SectionKind::kModuleShared:
      return kShared;
    default:
      return format::BankOfType(section.type) & 31;
  }
}

}  // namespace devlink::internal
