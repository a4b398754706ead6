// SPDX-License-Identifier: Apache-2.0
//
// What is in the sections of a file with two views.
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/line_table.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "format/views.h"
#include "image/gone_tables.h"
#include "image/late_sections.h"
#include "image/register_ranges.h"
#include "image/remade_lines.h"
#include "image/section_bytes.h"
#include "image/two_view_describer.h"

namespace devlink::internal {

namespace {

bool IsLineTable(const Section& section) {
  return section.kind == SectionKind::kDebug && format::IsLineTable(section.name);
}

}  // namespace

absl::Status TwoViewDescriber::FillContents() {
  if (pairs_.mercury_frames != kNone && pairs_.sass_frames != kNone) {
    frames_ =
        MakeFrames({mercury_.passes, pairs_.mercury_frames}, {sass_.passes, pairs_.sass_frames},
                   pairs_.frame_bases, pairs_.functions, hidden_);
  }
  KeepLiveLines();
  KeepLiveRegisters();
  for (SectionId id = 0; id < mercury_.program().sections.size(); ++id) {
    const Section& section = mercury_.program().sections[id];
    if (plain_.sections[id] == kNoSection || section.kind == SectionKind::kToolNote) continue;
    if (section.type != format::kShtNobits) FillPlain(id);
    if (absl::Status filled = FillOwn(id); !filled.ok()) return filled;
  }
  FillLateBanks();
  for (const SectionId id : parameters_) {
    const Section& section = sass_.program().sections[id];
    const ConstantBank* bank = sass_.banks.Of(id);
    const SectionHandle handle = sass_handles_.sections[id];
    if (bank != nullptr) {
      FillPieces(writer_, handle, bank->pieces, bank->size);
    } else if (!section.pieces.empty()) {
      // Copies of a kernel in several files have one bank here; elsewhere nvlink adds them up.
      const Piece& bank_of_one = section.pieces.front();
      FillPieces(writer_, handle, std::span(&bank_of_one, 1),
                 bank_of_one.offset + bank_of_one.bytes.size());
    }
  }
  ApplyPatches();
  PatchGoneTables();
  return FillCapsules();
}

void TwoViewDescriber::FillPlain(SectionId id) {
  const SectionId other = pairs_.sections[id];
  if (other == kNone) return;
  const SectionHandle handle = plain_.sections[id];
  const Section& section = sass_.program().sections[other];
  if (frames_.made && other == pairs_.sass_frames) {
    writer_.AppendCopy(handle, frames_.bytes);
  } else if (const auto lines = lines_.find(other); lines != lines_.end()) {
    writer_.AppendCopy(handle, lines->second.bytes);
  } else if (other == pairs_.sass_registers && !registers_.empty()) {
    writer_.AppendCopy(handle, registers_);
  } else if (const ConstantBank* bank = sass_.banks.Of(other)) {
    FillPieces(writer_, handle, bank->pieces, bank->size);
  } else if (!section.pieces.empty() || section.size != 0) {
    FillPieces(writer_, handle, section.pieces, section.size);
  }
}

// Whether a line table has no function's lines. One with the lines of a discarded body, of which
// machine code's table has nothing, is written beside that.
bool TwoViewDescriber::HasNoLines(SectionId id) const {
  const Section& section = mercury_.program().sections[id];
  const auto plain = lines_.find(pairs_.sections[id]);
  return section.rel == kNone && section.rela == kNone && plain != lines_.end() &&
         plain->second.bytes == BytesOf(section);
}

bool TwoViewDescriber::HasBytesOfMachineCode(SectionId id) const {
  const SectionId other = pairs_.sections[id];
  if (other == kNone) return false;
  const bool cleared = other == pairs_.sass_registers && !registers_.empty();
  return BytesOf(mercury_.program().sections[id]) ==
         (cleared ? registers_ : BytesOf(sass_.program().sections[other]));
}

bool TwoViewDescriber::SharesBytes(SectionId id) const {
  const Section& section = mercury_.program().sections[id];
  switch (section.kind) {
    case SectionKind::kConstantBank:
    case SectionKind::kGlobalInit:
      return true;
    case SectionKind::kDebug:
      return section.size == 0 || format::SharesBytesOfMachineCode(section.name) ||
             (IsLineTable(section) && HasNoLines(id)) ||
             (format::IsAboutRegisters(section.name) && HasBytesOfMachineCode(id));
    default:
      return false;
  }
}

absl::Status TwoViewDescriber::FillOwn(SectionId id) {
  const SectionHandle handle = own_.sections[id];
  if (handle == plain_.sections[id]) return absl::OkStatus();
  const Section& section = mercury_.program().sections[id];
  if (SharesBytes(id)) {
    if (section.size > writer_.SizeOf(plain_.sections[id])) {
      return absl::InvalidArgumentError(
          absl::StrCat("of '", std::string(section.name),
                       "' the Mercury view has more bytes than machine code"));
    }
    writer_.ShareBytes(handle, plain_.sections[id], section.size);
  } else if (section.kind == SectionKind::kReservedShared) {
    FillReserved(handle, section.size);
  } else if (section.kind == SectionKind::kText) {
    FillCapsule(id);
  } else if (const ConstantBank* bank = mercury_.banks.Of(id)) {
    FillPieces(writer_, handle, bank->pieces, bank->size);
  } else if (!section.pieces.empty() || section.size != 0) {
    FillPieces(writer_, handle, section.pieces, section.size);
  }
  return absl::OkStatus();
}

// nvlink shows what it has in memory there: the headers of the Mercury view's first two sections.
void TwoViewDescriber::FillReserved(SectionHandle handle, std::uint64_t size) {
  const std::array<format::Shdr, 2> headers = {format::Shdr{},
                                               format::Shdr{.name = 1,
                                                            .type = format::kShtStrtab,
                                                            .offset = sizeof(format::Ehdr),
                                                            .size = section_names_,
                                                            .addralign = 1}};
  const base::Bytes bytes(reinterpret_cast<const std::uint8_t*>(headers.data()), sizeof(headers));
  writer_.AppendCopy(handle, bytes.first(std::min<std::uint64_t>(size, bytes.size())));
  writer_.AppendZeros(handle, size - writer_.SizeOf(handle));
}

// The first word is the number of the section with the function's machine code.
void TwoViewDescriber::FillCapsule(SectionId id) {
  const Section& section = mercury_.program().sections[id];
  if (section.size < format::kCapsuleSectionWord) return;
  const SectionHandle handle = own_.sections[id];
  writer_.AppendSectionIndex(handle, plain_.sections[id]);
  for (const Piece& piece : section.pieces) {
    const std::uint64_t at = writer_.SizeOf(handle);
    if (piece.offset > at) writer_.AppendZeros(handle, piece.offset - at);
    const std::uint64_t skip =
        std::min<std::uint64_t>(at > piece.offset ? at - piece.offset : 0, piece.bytes.size());
    writer_.Append(handle, piece.bytes.subspan(skip));
  }
  writer_.AppendZeros(handle, section.size - writer_.SizeOf(handle));
}

// Places in constants, which machine code has in its instructions, stand in capsules as well.
absl::Status TwoViewDescriber::FillCapsules() {
  constexpr BitField kPlace{0, 16};
  std::vector<const ConstantUse*> uses;
  uses.reserve(sass_.passes.relocated.constant_uses.size());
  for (const ConstantUse& use : sass_.passes.relocated.constant_uses) uses.push_back(&use);
  std::stable_sort(uses.begin(), uses.end(), [](const ConstantUse* a, const ConstantUse* b) {
    return std::pair(a->section, a->offset) < std::pair(b->section, b->offset);
  });
  std::vector<std::uint32_t> instructions;
  std::vector<std::uint32_t> places;
  std::vector<SectionId> capsule_of(sass_.program().sections.size(), kNone);
  for (SectionId id = 0; id < pairs_.sections.size(); ++id) {
    if (pairs_.sections[id] != kNone) capsule_of[pairs_.sections[id]] = id;
  }
  for (auto begin = uses.begin(); begin != uses.end();) {
    const SectionId code = (*begin)->section;
    const auto end = std::find_if(begin, uses.end(),
                                  [&](const ConstantUse* use) { return use->section != code; });
    const SectionId capsule = capsule_of[code];
    const auto first = std::exchange(begin, end);
    if (capsule == kNone || own_.sections[capsule] == kNoSection) continue;
    const Section& section = mercury_.program().sections[capsule];
    if (section.pieces.size() != 1) continue;
    instructions.clear();
    for (auto use = first; use != end; ++use) {
      instructions.push_back(static_cast<std::uint32_t>((*use)->offset / format::kInstructionSize));
    }
    absl::Status found =
        format::FindCapsuleConstants(section.pieces.front().bytes, instructions, places);
    if (!found.ok() && format::IsCapsuleOfFirstForm(section.pieces.front().bytes)) {
      return absl::UnimplementedError(
          absl::StrCat("'", std::string(section.name),
                       "' is of CUDA 12.8, whose code for this target is not linked where it reads "
                       "constants of the compiler"));
    }
    if (!found.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the capsule of '", std::string(section.name),
                       "' is damaged: ", std::string(found.message())));
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] != 0) {
        writer_.Patch(own_.sections[capsule], places[i], kPlace,
                      first[static_cast<std::ptrdiff_t>(i)]->value);
      }
    }
  }
  return absl::OkStatus();
}

void TwoViewDescriber::FillLateBanks() {
  base::HashMap<FunctionId, const ConstantBank*> new_banks;  // of machine code
  for (const ConstantBank& bank : sass_.passes.constants.banks) {
    if (bank.section == kNone) new_banks[bank.kernel] = &bank;
  }
  for (const LateSection& late : late_sections_) {
    if (late.bank == nullptr) continue;
    FillPieces(writer_, late.own, late.bank->pieces, late.bank->size);
    const auto bank = new_banks.find(pairs_.functions[late.kernel]);
    if (bank != new_banks.end())
      FillPieces(writer_, late.plain, bank->second->pieces, bank->second->size);
  }
}

void TwoViewDescriber::KeepLiveLines() {
  const Program& program = sass_.program();
  base::HashMap<SectionId, base::HashMap<std::uint64_t, std::uint32_t>> named;
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    if (IsLineTable(program.sections[id])) named[id];
  }
  if (named.empty()) return;
  for (const KeptRelocation& kept : sass_.passes.relocated.kept) {
    const auto table = named.find(program.sections[kept.list].owner);
    if (table == named.end()) continue;
    // Symbols were added in the order of the table.
    table->second[kept.offset] = static_cast<std::uint32_t>(sass_handles_.symbols[kept.symbol]);
  }
  for (const auto& [id, symbols] : named) {
    const auto& symbol_of = symbols;
    // Sorted by the functions' symbols.
    auto lines = format::KeepLines(
        BytesOf(program.sections[id]),
        [&](std::uint64_t offset) -> std::optional<std::uint32_t> {
          const auto found = symbol_of.find(offset);
          if (found == symbol_of.end()) return std::nullopt;
          return found->second;
        },
        RemakeLines({mercury_.passes, sass_.passes, pairs_, hidden_}, id));
    if (lines) lines_.try_emplace(id, *std::move(lines));
  }
  for (SectionId id = 0; id < mercury_.program().sections.size(); ++id) {
    if (!IsLineTable(mercury_.program().sections[id])) continue;
    auto lines = format::KeepLines(BytesOf(mercury_.program().sections[id]),
                                   [](std::uint64_t) { return std::optional<std::uint32_t>(); });
    if (lines) own_lines_.try_emplace(id, *std::move(lines));
  }
}

// Places in code that goes mean nothing.
void TwoViewDescriber::KeepLiveRegisters() {
  if (pairs_.sass_registers == kNone) return;
  const Program& program = sass_.program();
  base::HashSet<std::pair<std::string_view, InputId>> live;
  for (FunctionId f = 0; f < program.functions.size(); ++f) {
    const Symbol& symbol = program.symbols[program.functions[f].symbol];
    if (sass_.passes.liveness.live[f] && program.IsDefined(f))
      live.insert({symbol.name, symbol.input});
  }
  base::HashSet<std::string> seen;
  auto kept =
      KeepRegisterRanges(program.sections[pairs_.sass_registers],
                         [&](std::string_view function, std::uint64_t offset) {
                           // nvlink knows functions by their names: the first of a name has them
                           // all.
                           return seen.insert(std::string(function)).second &&
                                  live.contains({function, pairs_.register_bases.InputAt(offset)});
                         });
  if (kept) registers_ = *std::move(kept);
}

// The heads of machine code's line tables are those of the Mercury view, whose inputs alone say
// where their strings lie.
void TwoViewDescriber::PatchLineHeader(const FieldPatch& patch) {
  const auto own = own_lines_.find(patch.section);
  const auto plain = lines_.find(pairs_.sections[patch.section]);
  if (own == own_lines_.end() || plain == lines_.end()) return;
  const std::vector<format::KeptLines::Run>& headers = own->second.headers;
  const auto behind = std::upper_bound(
      headers.begin(), headers.end(), patch.offset,
      [](std::uint64_t at, const format::KeptLines::Run& run) { return at < run.from; });
  if (behind == headers.begin()) return;
  const auto unit = static_cast<std::size_t>(behind - headers.begin()) - 1;
  const std::uint64_t offset = patch.offset - headers[unit].from;
  if (unit >= plain->second.headers.size() || offset >= headers[unit].size ||
      headers[unit].size != plain->second.headers[unit].size) {
    return;
  }
  writer_.Patch(plain_.sections[patch.section], plain->second.headers[unit].to + offset,
                patch.field, patch.value);
}

// What refers to a unit of a line table says where it lies now.
void TwoViewDescriber::PatchLineReferences() {
  if (lines_.empty() || sass_.form.relocatable()) return;
  const Program& program = sass_.program();
  for (const Relocation& relocation : program.relocations) {
    const Symbol& symbol = program.symbols[relocation.symbol];
    if (symbol.type != format::kSttSection) continue;
    const auto table = lines_.find(symbol.section);
    const SectionHandle handle = sass_handles_.sections[relocation.section];
    const format::RelocationInfo* info = format::FindRelocation(relocation.type);
    if (table == lines_.end() || handle == kNoSection || info == nullptr ||
        info->action != format::RelocationAction::kApply || lines_.contains(relocation.section)) {
      continue;
    }
    const auto place = table->second.PlaceOf(static_cast<std::uint64_t>(relocation.addend));
    if (!place) continue;
    for (const format::FieldPart& part : info->parts) {
      if (part.width == 0) continue;
      writer_.Patch(handle, relocation.offset, {part.position, part.width}, *place >> part.low_bit);
    }
  }
}

void TwoViewDescriber::ApplyPatches() {
  for (const FieldPatch& patch : sass_.passes.relocated.patches) {
    const SectionHandle handle = sass_handles_.sections[patch.section];
    if (handle == kNoSection) continue;
    if (frames_.made && patch.section == pairs_.sass_frames) continue;
    std::uint64_t offset = patch.offset;
    if (const auto lines = lines_.find(patch.section); lines != lines_.end()) {
      const auto place = lines->second.PlaceOf(offset);
      if (!place) continue;
      offset = *place;
    }
    writer_.Patch(handle, offset, patch.field, patch.value);
  }
  PatchLineReferences();
  for (const FieldPatch& patch : mercury_.passes.relocated.patches) {
    const SectionHandle handle = own_.sections[patch.section];
    if (handle == kNoSection || handle == plain_.sections[patch.section]) continue;
    PatchLineHeader(patch);
    if (SharesBytes(patch.section)) continue;
    writer_.Patch(handle, patch.offset, patch.field, patch.value);
  }
}

// Where several relocations are at one place the last one counts.
void TwoViewDescriber::PatchGoneTables() {
  const GoneTables tables(mercury_.program(), sass_.program(), pairs_);
  if (tables.empty()) return;
  std::map<std::pair<SectionHandle, std::uint64_t>, std::uint32_t> entries;
  const auto take = [&](const KeptRelocation& kept, SectionHandle constants) {
    const auto entry = tables.EntryFor(kept);
    if (entry && constants != kNoSection) entries[{constants, kept.offset}] = *entry;
  };
  for (const KeptRelocation& kept : mercury_.passes.relocated.kept) {
    take(kept, plain_.sections[mercury_.program().sections[kept.list].owner]);
  }
  for (const KeptRelocation& kept : mercury_.passes.relocated.kept_in_banks) {
    const LateList& list = late_lists_[list_of_bank_[kept.list]];
    take(kept, list.of == kNone ? late_sections_[list.of_late].plain : plain_.sections[list.of]);
  }
  for (const auto& [place, entry] : entries) {
    writer_.Patch(place.first, place.second, {0, 32}, entry);
  }
}

namespace {

// Whether the symbols of relocations are in the output. Where one is not, the inputs' views do not
// say the same of what stays.
absl::Status CheckSymbols(const LinkedView& view, const std::vector<KeptRelocation>& relocations,
                          const ViewHandles& handles) {
  const Program& program = view.program();
  for (const KeptRelocation& kept : relocations) {
    if (kept.instance != kNone || handles.symbols[kept.symbol] != kNoSymbol) continue;
    return absl::InvalidArgumentError(
        base::Cat({"a relocation refers to '", program.symbols[kept.symbol].name,
                   "', which the output does not have"}));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TwoViewDescriber::FillRelocations() {
  for (const auto* list :
       {&mercury_.passes.relocated.kept, &mercury_.passes.relocated.kept_in_banks}) {
    DEVLINK_RETURN_IF_ERROR(CheckSymbols(mercury_, *list, own_));
  }
  const Program& sass = sass_.program();
  struct Line {
    const KeptRelocation* kept;
    std::uint64_t offset;
  };
  std::vector<Line> lines;
  const auto add = [&](const KeptRelocation& kept, std::uint64_t offset) {
    const SymbolHandle symbol = kept.instance != kNone ? instances_[kept.instance].first
                                                       : sass_handles_.symbols[kept.symbol];
    writer_.AddRelocation(sass_handles_.sections[kept.list], offset, kept.type, symbol,
                          kept.addend);
  };
  for (const KeptRelocation& kept : sass_.passes.relocated.kept) {
    if (sass_handles_.sections[kept.list] == kNoSection) continue;
    const SectionId of = sass.sections[kept.list].owner;
    if (frames_.made && of == pairs_.sass_frames) continue;
    if (const auto table = lines_.find(of); table != lines_.end()) {
      if (const auto place = table->second.PlaceOf(kept.offset)) lines.push_back({&kept, *place});
    } else {
      add(kept, kept.offset);
    }
  }
  // Those of lines come by place.
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return std::pair(a.kept->list, a.offset) < std::pair(b.kept->list, b.offset);
  });
  for (const Line& line : lines) add(*line.kept, line.offset);
  for (const Frames::Address& address : frames_.addresses) {
    const SectionId list = mercury_.program().sections[pairs_.mercury_frames].rela;
    if (list == kNone || plain_.sections[list] == kNoSection) continue;
    writer_.AddRelocation(plain_.sections[list], address.offset, format::kRelocAbs64,
                          plain_.symbols[address.function], address.begin);
  }
  for (const KeptRelocation& kept : mercury_.passes.relocated.kept) {
    const SectionHandle handle = own_.sections[kept.list];
    if (handle == kNoSection) continue;
    const SymbolHandle symbol =
        kept.instance != kNone ? instances_[kept.instance].second : own_.symbols[kept.symbol];
    writer_.AddRelocation(handle, kept.offset, kept.type, symbol, kept.addend);
  }
  for (const KeptRelocation& kept : mercury_.passes.relocated.kept_in_banks) {
    writer_.AddRelocation(late_lists_[list_of_bank_[kept.list]].own, kept.offset, kept.type,
                          own_.symbols[kept.symbol], kept.addend);
  }
  return absl::OkStatus();
}

}  // namespace devlink::internal
