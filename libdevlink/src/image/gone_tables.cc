// SPDX-License-Identifier: Apache-2.0
#include "image/gone_tables.h"

#include <vector>

#include "base/bounded_reader.h"
#include "format/relocations.h"
#include "image/section_bytes.h"

namespace devlink::internal {

namespace {

// Tables in the constants of one function.
struct Tables {
  base::HashMap<std::uint64_t, std::int64_t> own;  // by their place: where they lead to
  bool has_others = false;
};

base::HashMap<SectionId, Tables> TablesOf(const Program& mercury) {
  base::HashMap<SectionId, Tables> out;
  const auto& discarded = mercury.residue.discarded_constants;
  for (const Relocation& relocation : mercury.relocations) {
    if (relocation.type != format::kRelocMercuryProgram32) continue;
    Tables& tables = out[relocation.section];
    const auto begin = discarded.find(relocation.section);
    if (begin != discarded.end() && relocation.offset >= begin->second) {
      tables.has_others = true;
      continue;
    }
    // Those of a body that was replaced came earlier.
    const auto [own, is_new] = tables.own.try_emplace(relocation.offset, relocation.addend);
    if (is_new) continue;
    own->second = relocation.addend;
    tables.has_others = true;
  }
  return out;
}

}  // namespace

GoneTables::GoneTables(const Program& mercury, const Program& sass, const ViewPairs& pairs)
    : mercury_(mercury) {
  const base::HashMap<SectionId, Tables> all = TablesOf(mercury);
  for (const auto& [section, tables] : all) {
    if (tables.has_others) places_[mercury.sections[section].function];
  }
  // Those of one body can be in several sections.
  for (const auto& [section, tables] : all) {
    const auto places = places_.find(mercury.sections[section].function);
    const SectionId other = pairs.sections[section];
    if (places == places_.end() || tables.own.empty() || other == kNone) continue;
    const std::vector<std::uint8_t> bytes = BytesOf(sass.sections[other]);
    for (const auto& [offset, target] : tables.own) {
      places->second[target] = base::BoundedReader(bytes).ReadOrZero<std::uint32_t>(offset);
    }
  }
}

std::optional<std::uint32_t> GoneTables::EntryFor(const KeptRelocation& kept) const {
  if (kept.type != format::kRelocMercuryProgram32) return std::nullopt;
  const auto places = places_.find(mercury_.symbols[kept.symbol].function);
  if (places == places_.end()) return std::nullopt;
  const auto found = places->second.find(kept.addend);
  return found == places->second.end() ? 0 : found->second;
}

}  // namespace devlink::internal
