// SPDX-License-Identifier: Apache-2.0
#include "image/view_pairs.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/hash_table.h"
#include "format/elf_cuda.h"
#include "format/sections.h"

namespace devlink::internal {

namespace {

void PairSymbols(const InputMaps& mercury, const InputMaps& sass, ViewPairs& out) {
  const std::size_t inputs = std::min(mercury.size(), sass.size());
  for (std::size_t input = 0; input < inputs; ++input) {
    const std::vector<SymbolId>& from = mercury[input].symbols;
    const std::vector<SymbolId>& to = sass[input].symbols;
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      if (from[i] != kNone && to[i] != kNone) out.symbols[from[i]] = to[i];
    }
  }
}

SectionId DebugSection(const Program& program, std::string_view name) {
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    const Section& section = program.sections[id];
    if (section.kind == SectionKind::kDebug && section.name == name) {
      return id;
    }
  }
  return kNone;
}

// Sections are found by what they belong to: functions by their symbol, the rest by kind and name,
// of which there is one each.
class SectionPairing {
 public:
  SectionPairing(const Program& mercury, const Program& sass, ViewPairs& out)
      : mercury_(mercury), sass_(sass), out_(out) {}

  void Run() {
    PairFunctions();
    PairNamed();
    // Relocations go with what they apply to, which may be constants of a function.
    for (SectionId id = 0; id < mercury_.sections.size(); ++id) {
      const SectionId other = out_.sections[id];
      if (other == kNone) continue;
      Pair(mercury_.sections[id].rela, sass_.sections[other].rela);
      Pair(mercury_.sections[id].rel, sass_.sections[other].rel);
    }
    PairResolvedLists();
  }

 private:
  void Pair(SectionId mercury, SectionId sass) {
    if (mercury != kNone && sass != kNone) out_.sections[mercury] = sass;
  }

  // The lists of -preserve-relocs go with what they apply to as well.
  void PairResolvedLists() {
    base::HashMap<SectionId, SectionId> lists;
    for (SectionId id = 0; id < sass_.sections.size(); ++id) {
      const Section& section = sass_.sections[id];
      if (section.type == format::kShtCudaResolvedRela) lists[section.owner] = id;
    }
    if (lists.empty()) return;
    for (SectionId id = 0; id < mercury_.sections.size(); ++id) {
      const Section& section = mercury_.sections[id];
      if (section.type != format::kShtCudaResolvedRela) continue;
      const auto list = lists.find(out_.sections[section.owner]);
      if (list != lists.end()) Pair(id, list->second);
    }
  }

  void PairFunctions() {
    for (FunctionId f = 0; f < mercury_.functions.size(); ++f) {
      const SymbolId symbol = out_.symbols[mercury_.functions[f].symbol];
      if (symbol == kNone) continue;
      const FunctionId other = sass_.symbols[symbol].function;
      if (other == kNone) continue;
      out_.functions[f] = other;
      const Function& from = mercury_.functions[f];
      const Function& to = sass_.functions[other];
      Pair(from.text, to.text);
      Pair(from.info, to.info);
      Pair(from.shared, to.shared);
      for (const SectionId constants : from.constants) {
        for (const SectionId theirs : to.constants) {
          if (sass_.sections[theirs].bank == mercury_.sections[constants].bank) {
            Pair(constants, theirs);
          }
        }
      }
    }
  }

  void PairNamed() {
    Pair(mercury_.tool_note, sass_.tool_note);
    Pair(mercury_.cuda_note, sass_.cuda_note);
    Pair(mercury_.module_info, sass_.module_info);
    Pair(mercury_.compat, sass_.compat);
    Pair(mercury_.module_shared, sass_.module_shared);
    base::HashMap<std::string_view, SectionId> named;
    base::HashMap<std::uint32_t, SectionId> banks;
    for (SectionId id = 0; id < sass_.sections.size(); ++id) {
      const Section& section = sass_.sections[id];
      if (IsNamed(section)) named.try_emplace(section.name, id);
      if (section.kind == SectionKind::kConstantBank) banks.try_emplace(section.bank, id);
    }
    for (SectionId id = 0; id < mercury_.sections.size(); ++id) {
      const Section& section = mercury_.sections[id];
      if (IsNamed(section)) PairWith(id, named, section.name);
      if (section.kind == SectionKind::kConstantBank) PairWith(id, banks, section.bank);
    }
  }

  template <typename Map, typename Key>
  void PairWith(SectionId mercury, const Map& by_key, const Key& key) {
    const auto found = by_key.find(key);
    if (found != by_key.end()) Pair(mercury, found->second);
  }

  static bool IsNamed(const Section& section) {
    return section.kind == SectionKind::kDebug || section.kind == SectionKind::kGlobal ||
           section.kind == SectionKind::kGlobalInit || section.kind == SectionKind::kReservedShared;
  }

  const Program& mercury_;
  const Program& sass_;
  ViewPairs& out_;
};

}  // namespace

ViewPairs PairViews(const Program& mercury, const InputMaps& mercury_maps, const Program& sass,
                    const InputMaps& sass_maps) {
  ViewPairs out;
  out.symbols.assign(mercury.symbols.size(), kNone);
  out.functions.assign(mercury.functions.size(), kNone);
  out.sections.assign(mercury.sections.size(), kNone);
  PairSymbols(mercury_maps, sass_maps, out);
  SectionPairing(mercury, sass, out).Run();
  out.mercury_frames = DebugSection(mercury, format::section_name::kDebugFrame);
  out.sass_frames = DebugSection(sass, format::section_name::kDebugFrame);
  out.frame_bases = InputBases(out.sass_frames, sass_maps);
  out.sass_registers = DebugSection(sass, format::section_name::kSassRegisters);
  out.register_bases = InputBases(out.sass_registers, sass_maps);
  for (SectionId id = 0; id < sass.sections.size(); ++id) {
    const Section& section = sass.sections[id];
    if (section.kind == SectionKind::kDebug && format::IsLineTable(section.name)) {
      out.line_bases.try_emplace(id, id, sass_maps);
    }
  }
  return out;
}

}  // namespace devlink::internal
