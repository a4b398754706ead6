// SPDX-License-Identifier: Apache-2.0
//
// Third pass over an input: all that is neither function nor variable.
#include <algorithm>
#include <iterator>

#include "format/call_graph_records.h"
#include "format/elf_cuda.h"
#include "format/notes.h"
#include "format/nv_compat.h"
#include "format/nv_info.h"
#include "format/sections.h"
#include "merge/merger.h"

namespace devlink::internal {

namespace section_name = format::section_name;

namespace {

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
      if (format::IsContent(sections_[i].role) == with_data) MergeSection(i);
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
      return compat_.Add(section.data);
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
  auto& note = program_.cuda_note_bytes;
  format::CudaInfo info = format::ReadCudaInfo(section.data).value_or(format::CudaInfo());
  info.toolkit = options_.profile.release;
  if (note.empty()) {
    note.assign(section.data.begin(), section.data.end());
    program_.sections[program_.cuda_note].flags = section.flags;
  } else if (const auto lowest = format::ReadCudaInfo(note)) {
    info.virtual_arch = std::min(info.virtual_arch, lowest->virtual_arch);
  }
  format::PatchCudaInfo(info, note);
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
      const std::string_view name =
          names_->Concat(section_name::kRel, section.name.substr(section_name::kRela.size()));
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
      const std::string_view name =
          names_->Concat(section_name::kRela, section.name.substr(section_name::kRel.size()));
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
         section.name != section_name::kDebugInfo;
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

// What nvlink writes of itself where no input has any device code.
void Merger::DescribeTarget() {
  program_.cuda_note_bytes =
      format::EncodeCudaInfo({.virtual_arch = static_cast<std::uint16_t>(options_.sm),
                              .toolkit = options_.profile.release});
  if (program_.compat == kNone) return;
  program_.sections[program_.cuda_note].flags |= format::kShfInfoLink;
  program_.compat_bytes = format::CompatMerger::OfTarget(options_.architecture_specific);
}

}  // namespace devlink::internal
