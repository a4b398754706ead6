// SPDX-License-Identifier: Apache-2.0
//
// Third pass over an input: all that is neither function nor variable.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "format/call_graph_records.h"
#include "format/elf_cuda.h"
#include "format/notes.h"
#include "format/nv_info.h"
#include "merge/merger.h"

namespace devlink::internal {

namespace {

// The pass takes sections with data first.
bool ComesFirst(const InputSection& section) {
  switch (section.role) {
    case SectionRole::kDebug:
    case SectionRole::kText:
    case SectionRole::kConstantBank:
    case SectionRole::kFunctionConstants:
    case SectionRole::kGlobalInit:
    case SectionRole::kGlobal:
    case SectionRole::kEntryShared:
    case SectionRole::kModuleShared:
      return true;
    default:
      return false;
  }
}

std::size_t CountRecords(base::Bytes data) {
  format::InfoReader records(data);
  format::InfoRecord record;
  std::size_t count = 0;
  while (records.Next(record)) ++count;
  return count;
}

}  // namespace

void Merger::MergeOtherSections() {
  const auto count = static_cast<std::uint32_t>(sections_.size());
  for (const bool with_data : {true, false}) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (ComesFirst(sections_[i]) == with_data) MergeSection(i);
    }
  }
  TakeAddressesOfDiscarded();
}

void Merger::MergeSection(std::uint32_t index) {
  const InputSection& section = sections_[index];
  switch (section.role) {
    case SectionRole::kToolNote:
      return MergeToolNote(section);
    case SectionRole::kCudaNote:
      return MergeCudaNote(section);
    case SectionRole::kCompat:
      return MergeCompat(section);
    case SectionRole::kDebug:
      return MergeDebug(index);
    case SectionRole::kModuleInfo:
    case SectionRole::kFunctionInfo:
      return MergeInfo(index);
    case SectionRole::kCallGraph:
      return MergeCallGraph(section);
    case SectionRole::kPrototype:
      return MergePrototypes(section);
    case SectionRole::kRelocations:
      return MergeRelocations(index);
    case SectionRole::kConstantBank:
    case SectionRole::kFunctionConstants:
    case SectionRole::kGlobalInit:
      // Data that no new variable pulled in is appended all the same; zeroed memory is not.
      if (section_map_[index].state == Mapping::kUnmapped) MapData(index, false);
      return;
    default:
      return;
  }
}

void Merger::MergeToolNote(const InputSection& section) {
  Section& out = program_.sections[program_.tool_note];
  AppendPiece(out, section.data, out.size);
  out.size += section.size;
}

// One note: the first one, with the lowest virtual architecture of all.
void Merger::MergeCudaNote(const InputSection& section) {
  constexpr std::size_t kVirtualArch = 26;
  constexpr std::size_t kToolkit = 28;
  auto& note = program_.cuda_note_bytes;
  if (note.empty()) {
    note.assign(section.data.begin(), section.data.end());
    std::memcpy(note.data() + kToolkit, &options_.profile.release, sizeof(std::uint16_t));
    program_.sections[program_.cuda_note].flags = section.flags;
    return;
  }
  std::uint16_t lowest = 0;
  std::memcpy(&lowest, note.data() + kVirtualArch, sizeof(lowest));
  lowest =
      std::min(lowest, base::BoundedReader(section.data).ReadOrZero<std::uint16_t>(kVirtualArch));
  std::memcpy(note.data() + kVirtualArch, &lowest, sizeof(lowest));
}

void Merger::MergeDebug(std::uint32_t index) {
  const InputSection& section = sections_[index];
  SectionId id = FindByName(section.name);
  if (id == kNone) {
    id = AddSection(section.name, SectionKind::kDebug, format::kShtProgbits, 0, section.align);
    named_[section.name] = id;
    AddSectionSymbol(id);
  }
  Section& out = program_.sections[id];
  section_map_[index] = {id, out.size, Mapping::kMapped};
  AppendPiece(out, section.data, out.size);
  out.size += section.size;
}

void Merger::MergeInfo(std::uint32_t index) {
  const InputSection& section = sections_[index];
  if (section.role == SectionRole::kModuleInfo) {
    return MergeInfoRecords(section, program_.module_info);
  }
  const Mapping& code = section_map_[section.info];
  if (code.state != Mapping::kMapped) return;
  const FunctionId function = program_.sections[code.section].function;
  if (program_.functions[function].info == kNone) {
    const SectionId info = AddInfoSection(section.name, code.section);
    program_.functions[function].info = info;
  }
  MergeInfoRecords(section, program_.functions[function].info);
}

void Merger::MergeInfoRecords(const InputSection& section, SectionId target) {
  auto& list = program_.info_lists[program_.sections[target].info_list];
  const bool of_module = target == program_.module_info;
  if (list.empty()) list.reserve(CountRecords(section.data));
  format::InfoReader records(section.data);
  format::InfoRecord record;
  while (records.Next(record)) {
    InfoEntry entry{
        .payload = record.payload, .value = record.value, .format = record.format, .id = record.id};
    const base::BoundedReader payload(record.payload);
    const format::InfoSymbols named = format::SymbolsOf(record).kind;
    if (named == format::InfoSymbols::kOne || named == format::InfoSymbols::kSectionSymbol) {
      const auto index = payload.ReadOrZero<std::uint32_t>(0);
      if (of_module && discarded_[index]) continue;
      if (named == format::InfoSymbols::kSectionSymbol) {
        const InputSymbol symbol = view_->SymbolAt(index);
        if (symbol.section >= section_map_.size()) continue;
        const Mapping& bank = section_map_[symbol.section];
        if (bank.state != Mapping::kMapped) continue;
        entry.symbol = program_.sections[bank.section].symbol;
      } else {
        entry.symbol = symbol_map_[index];
        if (entry.symbol == kNone) continue;
      }
    } else if (named == format::InfoSymbols::kAll) {
      entry.externs = static_cast<std::uint32_t>(program_.extern_symbols.size());
      for (std::uint64_t at = 0; at < record.payload.size(); at += 4) {
        program_.extern_symbols.push_back(symbol_map_[payload.ReadOrZero<std::uint32_t>(at)]);
      }
    }
    entry.arrival = info_records_++;
    list.push_back(entry);
  }
}

void Merger::MergeCallGraph(const InputSection& section) {
  using List = format::CallGraphList;
  const auto function_of = [&](std::uint32_t index) {
    const SymbolId symbol = symbol_map_[index];
    return symbol == kNone ? kNone : program_.symbols[symbol].function;
  };
  format::CallGraphReader pairs(section.data);
  format::CallGraphPair pair;
  while (pairs.Next(pair)) {
    const FunctionId function = function_of(pair.first);
    // Whom a discarded copy calls does not count. That the address of its function is taken does,
    // if a function takes it that stays; pointers in variables are not enough.
    const bool discarded = discarded_[pair.first];
    if (function == kNone || (discarded && pair.list != List::kAddressesTaken)) continue;
    if (discarded) {
      taken_of_discarded_.emplace_back(pair.first, pair.second);
      continue;
    }
    if (format::HoldsSymbolPairs(pair.list)) {
      const FunctionId callee = function_of(pair.second);
      if (callee == kNone) continue;
      const bool takes_address = pair.list == List::kAddressTakers;
      if (takes_address) taken_by_function_[pair.second] = true;
      if (options_.relocatable && !edges_.insert({pair.list, function, callee}).second) continue;
      (takes_address ? program_.address_takers : program_.calls).push_back({function, callee});
    } else if (pair.list == List::kAddressesTaken || pair.list == List::kIndirectCallers) {
      const std::uint32_t prototype = AddPrototype(view_->StringAt(pair.second));
      if (pair.list == List::kIndirectCallers) {
        program_.indirect_callers.push_back({function, prototype});
        continue;
      }
      CheckPrototype(symbol_map_[pair.first], prototype);
      TakeAddress(function, prototype);
    }
  }
}

void Merger::MergePrototypes(const InputSection& section) {
  const base::BoundedReader pairs(section.data);
  for (std::uint64_t at = 0; at < section.size; at += 8) {
    const auto index = pairs.ReadOrZero<std::uint32_t>(at);
    const std::uint32_t prototype =
        AddPrototype(view_->StringAt(pairs.ReadOrZero<std::uint32_t>(at + 4)));
    const SymbolId symbol = symbol_map_[index];
    if (symbol == kNone || program_.symbols[symbol].function == kNone) continue;
    Function& function = program_.functions[program_.symbols[symbol].function];
    if (function.prototype == kNone) function.prototype = prototype;
    CheckPrototype(symbol, prototype);
  }
}

void Merger::MergeRelocations(std::uint32_t index) {
  const InputSection& section = sections_[index];
  if (section.size == 0) return;  // nothing of it was checked
  const Mapping target = section_map_[section.info];
  if (target.state != Mapping::kMapped) return;
  const bool with_addend = section.type == format::kShtRela;
  const std::uint64_t step = with_addend ? sizeof(format::Rela) : format::kRelSize;
  const std::uint64_t count = section.size / step;
  const base::BoundedReader entries(section.data);
  const auto read = [&](std::uint64_t i) {
    format::Rela entry = {};
    if (with_addend) {
      entry = entries.ReadOrZero<format::Rela>(i * step);
    } else {
      entry.offset = entries.ReadOrZero<std::uint64_t>(i * step);
      entry.type = entries.ReadOrZero<std::uint32_t>(i * step + 8);
      entry.symbol = entries.ReadOrZero<std::uint32_t>(i * step + 12);
    }
    return entry;
  };

  std::sort(discarded_init_.begin(), discarded_init_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  const SectionRole role = sections_[section.info].role;
  bool any = false;
  for (std::uint64_t i = 0; i < count && !any; ++i) {
    any = !IsOfDuplicate(read(i), role) && !IsOfDiscarded(read(i), target);
  }
  if (!any) return;
  const SectionId list =
      with_addend ? RelocationSection(section.name, target.section, section.type) : kNone;
  if (with_addend && options_.profile.writes_phantom_rel_names) {
    // A name for relocations without addend appears where nvlink thought it would need it.
    bool phantom = false;
    bool first = true;  // the first that stays does not count
    for (std::uint64_t i = 0; i < count && !phantom; ++i) {
      if (IsOfDuplicate(read(i), role) || IsOfDiscarded(read(i), target)) continue;
      phantom = !first && read(i).addend == 0;
      first = false;
    }
    if (phantom && program_.sections[target.section].rel == kNone) {
      const std::string_view name = names_->Concat(".rel", section.name.substr(5));
      RelocationSection(name, target.section, format::kShtRel);
    }
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const format::Rela entry = read(i);
    if (IsOfDuplicate(entry, role)) continue;
    if (!with_addend && IsOfDiscarded(entry, target)) continue;
    if (with_addend) {
      MergeRelocation(entry, list, target);
    } else if (MovesSection(entry)) {
      // The base of the contribution has to go somewhere: it becomes an addend.
      const std::string_view name = names_->Concat(".rela", section.name.substr(4));
      MergeRelocation(entry, RelocationSection(name, target.section, format::kShtRela), target);
    } else {
      MergeRelocation(entry, RelocationSection(section.name, target.section, format::kShtRel),
                      target);
    }
  }
}

// Pointers in a second copy of a weak variable go with it; so do pointers from constants to a
// second copy, whose bytes stay as the input has them.
bool Merger::IsOfDuplicate(const format::Rela& entry, SectionRole role) const {
  if (role == SectionRole::kConstantBank) {
    return duplicate_[entry.symbol] || discarded_[entry.symbol];
  }
  if (role != SectionRole::kGlobalInit) return false;
  auto after = std::upper_bound(
      discarded_init_.begin(), discarded_init_.end(), entry.offset,
      [](std::uint64_t offset, const Range& range) { return offset < range.begin; });
  return after != discarded_init_.begin() && entry.offset < std::prev(after)->end;
}

// Debug records of a discarded copy keep the zeroes of the input, but for `.debug_info`, which then
// names the copy that stays.
bool Merger::IsOfDiscarded(const format::Rela& entry, const Mapping& target) const {
  const Section& section = program_.sections[target.section];
  return discarded_[entry.symbol] && section.kind == SectionKind::kDebug &&
         section.name != ".debug_info";
}

// Refers to a section symbol of the input whose bytes do not come first in the output's section.
bool Merger::MovesSection(const format::Rela& entry) const {
  const InputSymbol symbol = view_->SymbolAt(entry.symbol);
  if (symbol.type != format::kSttSection || symbol.section >= section_map_.size()) return false;
  const Mapping& mapped = section_map_[symbol.section];
  return mapped.state == Mapping::kMapped && mapped.base != 0;
}

void Merger::MergeRelocation(const format::Rela& entry, SectionId list, const Mapping& target) {
  Relocation out{.offset = entry.offset + target.base,
                 .addend = entry.addend,
                 .section = target.section,
                 .list = list,
                 .type = entry.type};
  const InputSymbol symbol = view_->SymbolAt(entry.symbol);
  if (symbol.type == format::kSttSection) {
    if (symbol.section >= section_map_.size()) return;
    const Mapping& mapped = section_map_[symbol.section];
    if (mapped.state != Mapping::kMapped) return;
    out.symbol = program_.sections[mapped.section].symbol;
    out.addend += static_cast<std::int64_t>(mapped.base);
  } else {
    out.symbol = symbol_map_[entry.symbol];
    if (out.symbol == kNone) return;
    if (IsOfDiscarded(entry, target)) return;
  }
  program_.relocations.push_back(out);
}

void Merger::TakeAddress(FunctionId function, std::uint32_t prototype) {
  address_taken_.resize(program_.functions.size());
  if (!address_taken_[function]) program_.addresses_taken.push_back({function, prototype});
  address_taken_[function] = true;
}

void Merger::TakeAddressesOfDiscarded() {
  for (const auto& [index, prototype] : taken_of_discarded_) {
    if (!taken_by_function_[index]) continue;
    TakeAddress(program_.symbols[symbol_map_[index]].function,
                AddPrototype(view_->StringAt(prototype)));
  }
}

namespace {

// Tags of `.nv.compat` records that this file treats by themselves.
constexpr std::uint8_t kTagTcgen05 = 0x05;
constexpr std::uint8_t kTagOpportunistic = 0x06;
constexpr std::uint8_t kTagAcceleratorTarget = 0x09;
constexpr std::uint8_t kTagFastpath = 0x0b;
constexpr std::uint8_t kTagInternalTarget = 0x0c;
constexpr std::uint8_t kTagIsaMinimum = 0x0d;
constexpr std::uint8_t kTagFinalizer = 0x0e;

void AppendRecord(std::vector<std::uint8_t>& out, const format::InfoRecord& record) {
  out.push_back(record.format);
  out.push_back(record.id);
  out.push_back(static_cast<std::uint8_t>(record.value & 0xff));
  out.push_back(static_cast<std::uint8_t>(record.value >> 8));
  out.insert(out.end(), record.payload.begin(), record.payload.end());
}

}  // namespace

// What nvlink writes of itself where no input has any device code.
void Merger::DescribeTarget() {
  program_.cuda_note_bytes =
      format::EncodeCudaInfo(static_cast<std::uint16_t>(options_.sm), options_.profile.release);
  if (program_.compat == kNone) return;
  program_.sections[program_.cuda_note].flags |= format::kShfInfoLink;
  AppendRecord(program_.compat_bytes,
               {.format = format::kInfoByteValue,
                .id = kTagAcceleratorTarget,
                .value = static_cast<std::uint16_t>(options_.architecture_specific ? 1 : 0)});
}

// The first input's records are the base; later ones raise values and, from 13.1 on, add tags.
void Merger::MergeCompat(const InputSection& section) {
  ++compat_inputs_;
  format::InfoReader records(section.data);
  format::InfoRecord record;
  while (records.Next(record)) {
    if (record.id == kTagOpportunistic && !options_.profile.compat_keeps_tag_06) continue;
    if (record.id == kTagFastpath && !options_.profile.compat_keeps_tag_0b) continue;
    CompatTag& tag = compat_tags_[record.id];
    ++tag.inputs;
    auto& bytes = program_.compat_bytes;
    if (tag.offset == kNone) {
      if (compat_inputs_ > 1 && options_.profile.release == 130) continue;
      tag.offset = static_cast<std::uint32_t>(bytes.size());
      AppendRecord(bytes, record);
    } else if (record.format == format::kInfoSized) {
      std::uint64_t ours = 0;
      std::memcpy(&ours, bytes.data() + tag.offset + 4, sizeof(ours));
      const auto theirs = base::BoundedReader(record.payload).ReadOrZero<std::uint64_t>(0);
      ours = ours != 0 && theirs != 0 ? ours & theirs : ours | theirs;
      std::memcpy(bytes.data() + tag.offset + 4, &ours, sizeof(ours));
    } else if (record.id != kTagAcceleratorTarget) {
      std::uint16_t ours = 0;
      std::memcpy(&ours, bytes.data() + tag.offset + 2, sizeof(ours));
      ours = std::max(ours, record.value);
      std::memcpy(bytes.data() + tag.offset + 2, &ours, sizeof(ours));
    }
  }
}

void Merger::FinishCompat() {
  if (program_.compat == kNone || program_.compat_bytes.empty()) return;
  const ToolkitProfile& profile = options_.profile;
  std::vector<std::uint8_t> out;
  format::InfoReader records(program_.compat_bytes);
  format::InfoRecord record;
  while (records.Next(record)) {
    const bool everywhere = compat_tags_[record.id].inputs == compat_inputs_;
    if (profile.compat_intersects_05_and_0e && !everywhere &&
        (record.id == kTagTcgen05 || record.id == kTagFinalizer)) {
      continue;
    }
    // An input without the tag counts as 2, the widest target.
    if (record.id == kTagInternalTarget && !everywhere) {
      record.value = std::max<std::uint16_t>(record.value, 2);
    }
    if (record.id == kTagAcceleratorTarget) record.value = options_.architecture_specific ? 1 : 0;
    AppendRecord(out, record);
  }
  if (profile.compat_adds_tag_0c && compat_tags_[kTagInternalTarget].inputs == 0) {
    AppendRecord(out, {.format = format::kInfoByteValue, .id = kTagInternalTarget, .value = 2});
  }
  if (profile.compat_adds_tag_0d && compat_tags_[kTagIsaMinimum].inputs == 0) {
    AppendRecord(out, {.format = format::kInfoHalfValue, .id = kTagIsaMinimum, .value = 0x100});
  }
  program_.compat_bytes = std::move(out);
}

}  // namespace devlink::internal
