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
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/make_diagnostic.h"
#include "format/relocations.h"
#include "format/sections.h"
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
  std::uint32_t code = 0;     // the section of its machine code
  bool overwrites = false;    // constants of the body that stays
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

// Static functions, by the section of their code: several may have one name, also that of a weak
// one.
std::vector<bool> StaticFunctions(const ModuleView& view) {
  std::vector<bool> out(view.section_count());
  for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
    const InputSymbol symbol = view.SymbolAt(i);
    if (symbol.type != format::kSttFunc || symbol.section >= out.size()) continue;
    if (symbol.binding == format::kStbLocal) out[symbol.section] = true;
  }
  return out;
}

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

constexpr std::uint64_t kEntrySize = sizeof(std::uint32_t);

bool IsWithin(const format::Rela& entry, base::Bytes constants) {
  return entry.offset <= constants.size() && constants.size() - entry.offset >= kEntrySize;
}

// The compiler's, by the section of the code that reads them.
base::HashMap<std::uint32_t, base::Bytes> ConstantsOfCode(const ModuleView& sass) {
  base::HashMap<std::uint32_t, base::Bytes> out;
  for (std::uint32_t i = 0; i < sass.section_count(); ++i) {
    if (sass.RoleAt(i) != SectionRole::kFunctionConstants) continue;
    const InputSection section = sass.SectionAt(i);
    if (!section.IsParameterBank()) out.try_emplace(section.info, section.data);
  }
  return out;
}

Entries EntriesOf(const ModuleView& view, std::uint32_t list) {
  return format::ReadRelocations(view.SectionAt(list).data, /*has_addend=*/true);
}

class StaleTables {
 public:
  // What is to be linked again has no such entry at all: then it is not known any more whose it is.
  StaleTables(std::span<const LinkInput> inputs, const Program& program, const InputMaps& maps,
              bool relocatable)
      : inputs_(inputs), program_(program), maps_(maps), relocatable_(relocatable) {}

  [[nodiscard]] std::vector<StaleList> Of(InputId input) {
    std::vector<StaleList> out;
    std::vector<std::uint64_t> ends;  // of variables, by section; only where there are tables
    const ModuleView& view = inputs_[input].module->view(format::ViewKind::kMercury);
    for (std::uint32_t i = 0; i < view.section_count(); ++i) {
      const auto constants = ConstantsOf(view, i);
      if (!constants) continue;
      Entries entries = EntriesOf(view, i);
      StaleList found{.section = i,
                      .function = FunctionOf(*constants),
                      .code = format::MachineCodeOf(view.SectionAt(constants->info).data)};
      const SymbolId replaced = ReplacedFunction(input, entries);
      found.overwrites = replaced != kNone && Overwrites(replaced, constants->name, entries);
      const bool misplaced = replaced != kNone && (relocatable_ || PassesEnd(replaced, entries));
      if (found.overwrites || misplaced) {
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

  // Whose tables these are, where the body that stays came later.
  [[nodiscard]] SymbolId ReplacedFunction(InputId input,
                                          std::span<const format::Rela> entries) const {
    const auto first = std::ranges::find_if(entries, IsEntryOfTable);
    if (first == entries.end()) return kNone;
    const std::vector<SymbolId>& symbols = maps_[input].symbols;
    const SymbolId symbol = first->symbol < symbols.size() ? symbols[first->symbol] : kNone;
    if (symbol == kNone || program_.symbols[symbol].function == kNone) return kNone;
    const InputId stays = program_.symbols[symbol].input;
    return input < stays && stays < inputs_.size() ? symbol : kNone;
  }

  // Whether that body has something else there.
  [[nodiscard]] bool Overwrites(SymbolId function, std::string_view constants,
                                std::span<const format::Rela> entries) {
    const Tables& own = TablesIn(program_.symbols[function].input, constants);
    return std::ranges::any_of(entries, [&](const format::Rela& entry) {
      if (!IsEntryOfTable(entry) || entry.offset >= own.constants) return false;
      const auto known = own.entries.find(entry.offset);
      return known == own.entries.end() || known->second != entry.addend;
    });
  }

  // Whether they lie behind all constants that a kernel has in the end: over that nvlink ends with
  // an internal error, and its library crashes.
  [[nodiscard]] bool PassesEnd(SymbolId symbol, std::span<const format::Rela> entries) const {
    const Function& function = program_.functions[program_.symbols[symbol].function];
    if (!function.is_kernel) return false;
    std::uint64_t size = 0;
    for (const SectionId id : function.constants) {
      const Section& section = program_.sections[id];
      if (section.bank == format::kCompilerBank) size = std::max(size, section.size);
    }
    return size != 0 && std::ranges::any_of(entries, [&](const format::Rela& entry) {
             return entry.offset >= size;
           });
  }

  // What an input has of the constants of this name.
  [[nodiscard]] const Tables& TablesIn(InputId input, std::string_view name) {
    const auto [of_input, is_new] = tables_.try_emplace(input);
    if (is_new) {
      const ModuleView& view = inputs_[input].module->view(format::ViewKind::kMercury);
      const std::vector<bool> is_static = StaticFunctions(view);
      const auto belongs_to_static = [&](const InputSection& section) {
        return section.info < is_static.size() && is_static[section.info];
      };
      for (std::uint32_t i = 0; i < view.section_count(); ++i) {
        if (view.RoleAt(i) == SectionRole::kFunctionConstants) {
          const InputSection section = view.SectionAt(i);
          if (belongs_to_static(section)) continue;
          of_input->second[section.name].constants = section.size;
        } else if (const auto constants = ConstantsOf(view, i)) {
          if (belongs_to_static(*constants)) continue;
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
    Places places;
    for (const format::Rela& entry : entries) {
      const bool behind = IsEntryOfTable(entry) && end != 0 && entry.offset >= end;
      const bool other =
          IsEntryOfTable(entry) && !behind &&
          places.try_emplace(entry.offset, entry.addend).first->second != entry.addend;
      (behind || other ? out.stale : out.sound).push_back(entry);
      out.overwrites |= other;
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
  const bool relocatable_;
  // By input and the constants' name, where they were asked for.
  base::HashMap<InputId, base::HashMap<std::string_view, Tables>> tables_;
};

// A cubin without these entries.
class Shortening {
 public:
  explicit Shortening(const Module& module)
      : module_(module),
        constants_(ConstantsOfCode(module.sass())),
        bytes_(module.bytes().begin(), module.bytes().end()) {}

  // Whether nvlink -r has overwritten entries that are sound: none leads to the function's start
  // that does not do so in the Mercury view.
  [[nodiscard]] bool HasLost(const StaleList& list) const {
    const auto constants = constants_.find(list.code);
    return constants != constants_.end() &&
           std::ranges::any_of(list.sound, [&](const format::Rela& entry) {
             return IsEntryOfTable(entry) && entry.addend != 0 &&
                    IsWithin(entry, constants->second) &&
                    base::BoundedReader(constants->second)
                            .ReadOrZero<std::uint32_t>(entry.offset) == 0;
           });
  }

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
    const auto constants = constants_.find(list.code);
    if (constants == constants_.end()) return;
    const base::Bytes bytes = constants->second;
    base::HashSet<std::uint64_t> sound;
    for (const format::Rela& entry : list.sound) sound.insert(entry.offset);
    for (const format::Rela& entry : list.stale) {
      if (sound.contains(entry.offset) || !IsWithin(entry, bytes)) continue;
      std::fill_n(At(bytes.subspan(entry.offset)), kEntrySize, std::uint8_t{0});
    }
  }

  const Module& module_;
  const base::HashMap<std::uint32_t, base::Bytes> constants_;
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

absl::StatusOr<SoundInputs> WithoutStaleTables(std::span<const LinkInput> inputs,
                                               const LinkOptions& options, const Program& program,
                                               const InputMaps& maps,
                                               std::vector<Diagnostic>& diagnostics) {
  SoundInputs out{.inputs = {inputs.begin(), inputs.end()}, .lost = {}};
  if (options.compatibility == Compatibility::kNvlink) return out;
  StaleTables stale(inputs, program, maps, options.relocatable);
  std::vector<std::string> functions;
  for (InputId i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].module->HasView(format::ViewKind::kMercury)) continue;
    const std::vector<StaleList> lists = stale.Of(i);
    if (lists.empty()) continue;
    Shortening module(*inputs[i].module);
    for (const StaleList& list : lists) {
      module.Shorten(list);
      if (out.lost.empty() && list.overwrites && module.HasLost(list)) out.lost = list.function;
      if (list.overwrites) functions.emplace_back(list.function);
    }
    auto sound = std::move(module).Take();
    if (!sound.ok()) {
      return absl::InternalError(base::ToAbsl(base::Cat(
          {"'", inputs[i].name, "' cannot be read without the jump tables of replaced functions: ",
           base::FromAbsl(sound.status().message())})));
    }
    out.inputs[i].module = *std::move(sound);
  }
  if (functions.empty()) return out;
  std::ranges::sort(functions);
  functions.erase(std::ranges::unique(functions).begin(), functions.end());
  diagnostics.push_back(Note(functions));
  return out;
}

}  // namespace devlink::internal
