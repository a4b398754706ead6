// SPDX-License-Identifier: Apache-2.0
#include "link/shared_again.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/align.h"

namespace devlink::internal {

namespace {

// `extern x[]` begins at a multiple of it.
constexpr std::uint32_t kExternalAlign = 16;

class Describer {
 public:
  Describer(const Program& program, const SharedAgainOptions& options)
      : program_(program), options_(options) {}

  SharedAgain Run() {
    AddUpSizes();
    FindAlignments();
    if (options_.place_external) PlaceExternal();
    for (auto& [id, section] : result_.sections) Finish(id, section);
    return std::move(result_);
  }

 private:
  // Variables count with their sizes; where they will lie is not known.
  void AddUpSizes() {
    for (SectionId id = 0; id < program_.sections.size(); ++id) {
      const Section& section = program_.sections[id];
      if (section.kind == SectionKind::kEntryShared || section.kind == SectionKind::kModuleShared) {
        result_.sections[id].align = section.align;
      }
    }
    for (const SymbolId id : program_.shared_definitions) {
      const Symbol& symbol = program_.symbols[id];
      if (symbol.section != kNone) {
        result_.sections[symbol.section].size += symbol.size;
        any_in_module_ = any_in_module_ || symbol.section == program_.module_shared;
      } else if (symbol.external_shared) {
        any_external_ = true;
      }
    }
  }

  // An entry's memory is aligned as strictly as that of any file.
  void FindAlignments() {
    if (!any_in_module_) return;
    for (auto& [id, section] : result_.sections) {
      if (id != program_.module_shared) {
        section.align = std::max(section.align, program_.module_shared_align);
      }
    }
  }

  // Entries by what they refer to themselves. Without -g each has an instance of its own; with it
  // those that have a variable in common share one.
  void PlaceExternal() {
    std::map<SectionId, std::vector<SymbolId>> used;  // by code: creation order of the functions
    for (const Relocation& relocation : program_.relocations) {
      const Symbol& symbol = program_.symbols[relocation.symbol];
      if (!symbol.external_shared || symbol.section != kNone) continue;
      const Section& section = program_.sections[relocation.section];
      if (section.kind != SectionKind::kText) continue;
      const Function& function = program_.functions[section.function];
      if (function.generation != relocation.generation) continue;  // of a body that was replaced
      if (function.entry && function.shared != kNone) {
        used[relocation.section].push_back(relocation.symbol);
      }
    }
    for (const SymbolId id : program_.shared_definitions) {
      if (program_.symbols[id].section == kNone) result_.external_values[id] = 0;
    }
    for (const auto& [text, symbols] : used) {
      const Function& function = program_.functions[program_.sections[text].function];
      SharedSize& section = result_.sections[function.shared];
      section.size = base::AlignUp(section.size, kExternalAlign);
      section.align = std::max(section.align, kExternalAlign);
      if (options_.debug) continue;
      const auto number = static_cast<std::uint32_t>(result_.instances.size());
      result_.instance_of[program_.sections[text].function] = number;
      result_.instances.push_back({program_.sections[text].function, section.size});
    }
    if (options_.debug) UniteByVariable(used);
  }

  void UniteByVariable(const std::map<SectionId, std::vector<SymbolId>>& used) {
    std::vector<SectionId> texts;
    std::vector<std::uint32_t> leader(used.size());
    std::iota(leader.begin(), leader.end(), 0U);
    const auto find = [&leader](std::uint32_t i) {
      while (leader[i] != i) i = leader[i] = leader[leader[i]];
      return i;
    };
    absl::flat_hash_map<SymbolId, std::uint32_t> first_user;
    for (const auto& [text, symbols] : used) {
      const auto index = static_cast<std::uint32_t>(texts.size());
      texts.push_back(text);
      for (const SymbolId symbol : symbols) {
        const auto [known, inserted] = first_user.try_emplace(symbol, index);
        if (!inserted) leader[find(index)] = find(known->second);
      }
    }
    const auto section_of = [&](std::uint32_t i) -> SharedSize& {
      const FunctionId function = program_.sections[texts[i]].function;
      return result_.sections[program_.functions[function].shared];
    };
    std::vector<std::uint64_t> largest(texts.size(), 0);
    for (std::uint32_t i = 0; i < texts.size(); ++i) {
      largest[find(i)] = std::max(largest[find(i)], section_of(i).size);
    }
    for (std::uint32_t i = 0; i < texts.size(); ++i) section_of(i).size = largest[find(i)];
    for (const auto& [symbol, user] : first_user) {
      result_.external_values[symbol] = largest[find(user)];
    }
  }

  // A section is larger than its alignment, which its variables have for a value.
  void Finish(SectionId id, SharedSize& section) const {
    section.has_symbol = section.size != 0;
    const bool for_external =
        options_.place_external && any_external_ && section.align == kExternalAlign;
    section.emitted = section.size != 0 || for_external;
    if (id == program_.module_shared && !any_external_ && section.size == 0) {
      section.emitted = false;
    }
    if (section.size <= section.align) section.size += section.align;
  }

  const Program& program_;
  const SharedAgainOptions& options_;
  SharedAgain result_;
  bool any_external_ = false;
  bool any_in_module_ = false;
};

}  // namespace

SharedAgain DescribeShared(const Program& program, const SharedAgainOptions& options) {
  return Describer(program, options).Run();
}

}  // namespace devlink::internal
