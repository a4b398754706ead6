// SPDX-License-Identifier: Apache-2.0
#include "merge/attribute_merge.h"

#include "base/strings.h"
#include "format/nv_info.h"

namespace devlink::internal {

void AttributeMerge::Run(std::uint32_t index) {
  const InputSection& section = input_.sections[index];
  if (section.role == SectionRole::kModuleInfo) {
    return TakeRecords(section, program_.module_info);
  }
  const SectionMapping& code = input_.section_map[section.info];
  if (code.state != SectionMapping::kMapped) return;
  const FunctionId function = program_.sections[code.section].function;
  if (program_.functions[function].info == kNone) {
    const SectionId info = builder_.AddInfoSection(section.name, code.section);
    program_.functions[function].info = info;
  }
  TakeRecords(section, program_.functions[function].info);
}

void AttributeMerge::TakeRecords(const InputSection& section, SectionId target) {
  const bool of_module = target == program_.module_info;
  taken_.clear();
  format::InfoReader records(section.data);
  format::InfoRecord record;
  while (records.Next(record)) {
    AttributeRecord taken{
        .payload = record.payload, .value = record.value, .format = record.format, .id = record.id};
    const base::BoundedReader payload(record.payload);
    const format::InfoSymbols named = format::SymbolsOf(record).kind;
    if (named == format::InfoSymbols::kOne || named == format::InfoSymbols::kSectionSymbol) {
      const auto index = payload.ReadOrZero<std::uint32_t>(0);
      if (of_module && input_.discarded[index]) continue;
      if (named == format::InfoSymbols::kSectionSymbol) {
        const InputSymbol symbol = input_.view->SymbolAt(index);
        if (symbol.section >= input_.section_map.size()) {
          Lose(section, index);
          continue;
        }
        const SectionMapping& bank = input_.section_map[symbol.section];
        if (bank.state == SectionMapping::kDiscarded) continue;
        if (bank.state == SectionMapping::kUnmapped) {
          Lose(section, index);
          continue;
        }
        taken.symbol = program_.sections[bank.section].symbol;
      } else {
        taken.symbol = input_.symbols[index];
        if (taken.symbol == kNone) {
          Lose(section, index);
          continue;
        }
      }
    } else if (named == format::InfoSymbols::kAll) {
      taken.externs = static_cast<std::uint32_t>(program_.extern_symbols.size());
      for (std::uint64_t at = 0; at < record.payload.size(); at += 4) {
        program_.extern_symbols.push_back(input_.symbols[payload.ReadOrZero<std::uint32_t>(at)]);
      }
    }
    taken.arrival = builder_.info_records++;
    taken_.push_back(taken);
  }
  // At once, so that the list takes no more memory than its records.
  auto& list = program_.info_lists[program_.sections[target].info_list];
  list.insert(list.end(), taken_.begin(), taken_.end());
}

void AttributeMerge::Lose(const InputSection& section, std::uint32_t symbol) {
  findings_.ReportLost(base::Cat({"an attribute in '", section.name, "' is that of '",
                                  input_.view->SymbolAt(symbol).name, "', which is nowhere"}));
}

}  // namespace devlink::internal
