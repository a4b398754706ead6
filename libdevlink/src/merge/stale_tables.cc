// SPDX-License-Identifier: Apache-2.0
#include "merge/stale_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/bounded_reader.h"
#include "base/hash_table.h"
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "format/make_diagnostic.h"
#include "format/relocations.h"
#include "format/views.h"
#include "format/without_gaps.h"

namespace devlink::internal {

namespace {

using Entries = std::vector<format::Rela>;

// A list of relocations of which some are stale, all or not.
struct StaleList {
  std::uint32_t section = 0;
  Entries sound;
  Entries stale;
  std::string_view function;  // by name
};

bool IsEntryOfTable(const format::Rela& entry) {
  return entry.type == format::kRelocMercuryProgram32;
}

// Where entries lie, and where they lead to.
using Places = base::HashMap<std::uint64_t, std::int64_t>;

// The jump tables of one body.
struct Tables {
  std::uint64_t constants = 0;  // bytes, of which some are entries
  Places entries;
};

// What a section relocates, where it is a list of relocations of a function's constants.
std::optional<InputSection> ConstantsOf(const ModuleView& view, std::uint32_t list) {
  if (view.RoleAt(list) != SectionRole::kRelocations) return std::nullopt;
  const InputSection section = view.SectionAt(list);
  if (section.type != format::kShtRela || section.info >= view.section_count() ||
      view.RoleAt(section.info) != SectionRole::kFunctionConstants) {
    return std::nullopt;
  }
  return view.SectionAt(section.info);
}

Entries EntriesOf(const ModuleView& view, std::uint32_t list) {
  return format::ReadRelocations(view.SectionAt(list).data, /*has_addend=*/true);
}

class StaleTables {
 public:
  StaleTables(std::span<const LinkInput> inputs, const Program& program, const InputMaps& maps)
      : inputs_(inputs), program_(program), maps_(maps) {}

  [[nodiscard]] std::vector<StaleList> Of(InputId input) {
    std::vector<StaleList> out;
    std::vector<std::uint64_t> ends;  // of variables, by section; only where there are tables
    const ModuleView& view = inputs_[input].module->view(format::ViewKind::kMercury);
    for (std::uint32_t i = 0; i < view.section_count(); ++i) {
      const auto constants = ConstantsOf(view, i);
      if (!constants) continue;
      Entries entries = EntriesOf(view, i);
      StaleList found{.section = i, .function = FunctionOf(*constants)};
      if (IsStale(input, *constants, entries)) {
        found.stale = std::move(entries);
      } else {
        if (ends.empty()) ends = EndsOfVariables(view);
        Sort(entries, ends[view.SectionAt(i).info], found);
      }
      if (!found.stale.empty()) out.push_back(std::move(found));
    }
    return out;
  }

 private:
  static std::string_view FunctionOf(const InputSection& constants) {
    const std::string_view prefix = format::CompilerConstantsPrefix(format::ViewKind::kMercury);
    return constants.name.starts_with(prefix) ? constants.name.substr(prefix.size()) : "";
  }

  // Whether the body that stays came later, and has constants where these entries are.
  [[nodiscard]] bool IsStale(InputId input, const InputSection& constants,
                             std::span<const format::Rela> entries) {
    const auto first = std::ranges::find_if(entries, IsEntryOfTable);
    if (first == entries.end()) return false;
    const std::vector<SymbolId>& symbols = maps_[input].symbols;
    const SymbolId symbol = first->symbol < symbols.size() ? symbols[first->symbol] : kNone;
    if (symbol == kNone) return false;
    const InputId stays = program_.symbols[symbol].input;
    if (stays <= input || stays >= inputs_.size()) return false;
    const Tables& own = TablesIn(stays, constants.name);
    return std::ranges::any_of(entries, [&](const format::Rela& entry) {
      if (!IsEntryOfTable(entry) || entry.offset >= own.constants) return false;
      const auto known = own.entries.find(entry.offset);
      return known == own.entries.end() || known->second != entry.addend;
    });
  }

  // What an input has of the constants of this name.
  [[nodiscard]] const Tables& TablesIn(InputId input, std::string_view name) {
    const auto [of_input, is_new] = tables_.try_emplace(input);
    if (is_new) {
      const ModuleView& view = inputs_[input].module->view(format::ViewKind::kMercury);
      for (std::uint32_t i = 0; i < view.section_count(); ++i) {
        if (view.RoleAt(i) == SectionRole::kFunctionConstants) {
          const InputSection section = view.SectionAt(i);
          of_input->second[section.name].constants = section.size;
        } else if (const auto constants = ConstantsOf(view, i)) {
          Places& entries = of_input->second[constants->name].entries;
          for (const format::Rela& entry : EntriesOf(view, i)) {
            if (IsEntryOfTable(entry)) entries.try_emplace(entry.offset, entry.addend);
          }
        }
      }
    }
    return of_input->second[name];
  }

  // In the result of nvlink -r all are in one list: those of replaced bodies behind those of the
  // one that stayed, and of discarded bodies those that lie behind its variables, which end what a
  // link takes.
  static void Sort(const Entries& entries, std::uint64_t end, StaleList& out) {
    base::HashSet<std::uint64_t> places;
    for (const format::Rela& entry : entries) {
      const bool stale = IsEntryOfTable(entry) &&
                         ((end != 0 && entry.offset >= end) || !places.insert(entry.offset).second);
      (stale ? out.stale : out.sound).push_back(entry);
    }
  }

  static std::vector<std::uint64_t> EndsOfVariables(const ModuleView& view) {
    std::vector<std::uint64_t> ends(view.section_count());
    for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
      const InputSymbol symbol = view.SymbolAt(i);
      if (symbol.type == format::kSttSection || symbol.section >= ends.size()) continue;
      ends[symbol.section] = std::max(ends[symbol.section], symbol.value + symbol.size);
    }
    return ends;
  }

  std::span<const LinkInput> inputs_;
  const Program& program_;
  const InputMaps& maps_;
  // By input and the constants' name, where they were asked for.
  base::HashMap<InputId, base::HashMap<std::string_view, Tables>> tables_;
};

// A cubin without these entries.
class Shortening {
 public:
  explicit Shortening(const Module& module)
      : module_(module), bytes_(module.bytes().begin(), module.bytes().end()) {}

  void Shorten(const StaleList& list) {
    const ModuleView& view = module_.view(format::ViewKind::kMercury);
    const std::vector<std::uint8_t> sound = format::WriteRelocations(list.sound, true);
    std::ranges::copy(sound, At(view.SectionAt(list.section).data));
    const std::uint64_t size = sound.size();
    const std::uint64_t header =
        module_.header().shoff + std::uint64_t{list.section} * sizeof(format::Shdr);
    std::memcpy(bytes_.data() + header + offsetof(format::Shdr, size), &size, sizeof(size));
    ClearEntries(list);
  }

  absl::StatusOr<ModuleRef> Take() && {
    return Module::Load(format::WithoutGaps(std::move(bytes_)));
  }

 private:
  std::vector<std::uint8_t>::iterator At(base::Bytes data) {
    return bytes_.begin() + (data.data() - module_.bytes().data());
  }

  // Machine code has places in code where the Mercury view has relocations, and nothing else.
  void ClearEntries(const StaleList& list) {
    const ModuleView& view = module_.sass();
    base::HashSet<std::uint64_t> sound;
    for (const format::Rela& entry : list.sound) sound.insert(entry.offset);
    for (std::uint32_t i = 0; i < view.section_count(); ++i) {
      if (view.RoleAt(i) != SectionRole::kFunctionConstants) continue;
      const InputSection constants = view.SectionAt(i);
      const std::string_view prefix = format::CompilerConstantsPrefix(format::ViewKind::kSass);
      if (!constants.name.starts_with(prefix) ||
          constants.name.substr(prefix.size()) != list.function) {
        continue;
      }
      for (const format::Rela& entry : list.stale) {
        constexpr std::uint64_t kEntry = sizeof(std::uint32_t);
        if (sound.contains(entry.offset) || entry.offset > constants.data.size() ||
            constants.data.size() - entry.offset < kEntry) {
          continue;
        }
        std::fill_n(At(constants.data.subspan(entry.offset)), kEntry, std::uint8_t{0});
      }
    }
  }

  const Module& module_;
  std::vector<std::uint8_t> bytes_;
};

Diagnostic Note(const std::vector<std::string>& functions) {
  const std::size_t more = functions.size() - 1;
  std::string text = base::Cat({"the jump table of '", functions.front(), "'"});
  if (more != 0) absl::StrAppend(&text, " and those of ", more, " more");
  text += more != 0 ? " stay as they are: nvlink overwrites them"
                    : " stays as it is: nvlink overwrites it";
  text += " by that of a copy in another file, whose code is not linked; --compat=nvlink, too";
  Diagnostic out = format::MakeDiagnostic(Severity::kInfo, DiagnosticCode::kForgottenAddress, "",
                                          "", std::move(text));
  out.symbol = functions.front();
  return out;
}

}  // namespace

absl::StatusOr<std::vector<LinkInput>> WithoutStaleTables(std::span<const LinkInput> inputs,
                                                          Compatibility compatibility,
                                                          const Program& program,
                                                          const InputMaps& maps,
                                                          std::vector<Diagnostic>& diagnostics) {
  std::vector<LinkInput> out(inputs.begin(), inputs.end());
  if (compatibility == Compatibility::kNvlink) return out;
  StaleTables stale(inputs, program, maps);
  std::vector<std::string> functions;
  for (InputId i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].module->HasView(format::ViewKind::kMercury)) continue;
    const std::vector<StaleList> lists = stale.Of(i);
    if (lists.empty()) continue;
    Shortening module(*inputs[i].module);
    for (const StaleList& list : lists) {
      module.Shorten(list);
      functions.emplace_back(list.function);
    }
    auto sound = std::move(module).Take();
    if (!sound.ok()) {
      return absl::InternalError(base::ToAbsl(base::Cat(
          {"'", inputs[i].name, "' cannot be read without the jump tables of replaced functions: ",
           base::FromAbsl(sound.status().message())})));
    }
    out[i].module = *std::move(sound);
  }
  if (functions.empty()) return out;
  std::ranges::sort(functions);
  functions.erase(std::ranges::unique(functions).begin(), functions.end());
  diagnostics.push_back(Note(functions));
  return out;
}

}  // namespace devlink::internal
