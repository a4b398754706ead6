// SPDX-License-Identifier: Apache-2.0
#include "link/verify.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/hash_table.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "link/verify_memory.h"

namespace devlink::internal {

namespace {

std::string Number(std::uint64_t number) { return absl::StrCat("0x", absl::Hex(number)); }

// "section '.text.k': its pieces end at 0x20, the section at 0x10"
absl::Status Broken(std::string_view kind, std::string_view name, std::string_view what,
                    std::uint64_t first, std::string_view then, std::uint64_t second) {
  return absl::InternalError(base::ToAbsl(base::Cat(
      {kind, " '", name, "': ", what, " ", Number(first), ", ", then, " ", Number(second)})));
}

absl::Status CheckCount(std::string_view what, std::size_t has, std::size_t needs) {
  if (has == needs) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(base::ToAbsl(what), ": ", has, " in place of ", needs));
}

class ProgramVerifier {
 public:
  ProgramVerifier(const Program& program, bool sizes_as_nvlink)
      : program_(program), sizes_as_nvlink_(sizes_as_nvlink) {}

  absl::Status Run() const {
    for (const Section& section : program_.sections) {
      DEVLINK_RETURN_IF_ERROR(CheckSection(section));
    }
    for (const Symbol& symbol : program_.symbols) DEVLINK_RETURN_IF_ERROR(CheckSymbol(symbol));
    return CheckNames();
  }

 private:
  absl::Status CheckSection(const Section& section) const {
    const auto broken = [&](std::string_view what, std::uint64_t first, std::string_view then,
                            std::uint64_t second) {
      return Broken("section", section.name, what, first, then, second);
    };
    if (!base::IsPowerOfTwo(section.align)) {
      return broken("it is aligned to", section.align, "which is not a power of two up to",
                    std::uint64_t{1} << 31);
    }
    DEVLINK_RETURN_IF_ERROR(CheckIds(section));
    std::uint64_t end = 0;
    for (const Piece& piece : section.pieces) {
      if (piece.offset < end) {
        return broken("a piece begins at", piece.offset, "the one before it ends at", end);
      }
      end = piece.offset + piece.bytes.size();
    }
    if (end > section.size) return broken("its pieces end at", end, "the section at", section.size);
    return absl::OkStatus();
  }

  absl::Status CheckIds(const Section& section) const {
    const auto check = [&](std::string_view what, std::uint32_t id, std::size_t count) {
      if (id == kNone || id < count) return absl::OkStatus();
      return Broken("section", section.name, what, id, "of a number of", count);
    };
    DEVLINK_RETURN_IF_ERROR(
        check("it belongs to section", section.owner, program_.sections.size()));
    DEVLINK_RETURN_IF_ERROR(
        check("it belongs to function", section.function, program_.functions.size()));
    return check("its symbol is", section.symbol, program_.symbols.size());
  }

  absl::Status CheckSymbol(const Symbol& symbol) const {
    if (symbol.section == kNone) return absl::OkStatus();
    if (symbol.section >= program_.sections.size()) {
      return Broken("symbol", symbol.name, "it lies in section", symbol.section, "of a number of",
                    program_.sections.size());
    }
    const Section& section = program_.sections[symbol.section];
    switch (section.kind) {
      case SectionKind::kGlobal:
      case SectionKind::kConstantBank:
        if (sizes_as_nvlink_) return absl::OkStatus();
        break;
      case SectionKind::kGlobalInit:
        break;
      case SectionKind::kFunctionConstants:
        // nvlink -r leaves symbols of bodies that it replaced, whose bytes are gone.
        if ((symbol.other & format::kStoInternal) == 0) break;
        return absl::OkStatus();
      default:
        return absl::OkStatus();  // places of shared memory are the layout's
    }
    if (symbol.value <= section.size && symbol.size <= section.size - symbol.value) {
      return absl::OkStatus();
    }
    return Broken("symbol", symbol.name, "it ends at", symbol.value + symbol.size,
                  base::Cat({"section '", section.name, "' at"}), section.size);
  }

  // Every section's name is entered for it, once that is due, and no name for what does not exist.
  absl::Status CheckNames() const {
    std::vector<bool> named(program_.sections.size());
    for (const auto* list : {&program_.section_names, &program_.symbol_names}) {
      for (const NameEntry& name : *list) {
        if (name.section != kNone && name.section >= program_.sections.size()) {
          return Broken("name", name.text, "it is that of section", name.section, "of a number of",
                        program_.sections.size());
        }
        if (name.symbol != kNone && name.symbol >= program_.symbols.size()) {
          return Broken("name", name.text, "it is that of symbol", name.symbol, "of a number of",
                        program_.symbols.size());
        }
        if (list == &program_.section_names && name.section != kNone) named[name.section] = true;
      }
    }
    for (SectionId id = 0; id < named.size(); ++id) {
      if (named[id] || program_.sections[id].comes_late) continue;
      return Broken("section", program_.sections[id].name, "its name is not entered: section", id,
                    "of a number of", named.size());
    }
    return absl::OkStatus();
  }

  const Program& program_;
  const bool sizes_as_nvlink_;
};

// Where sections end that a list of relocations applies to. One of what was resolved may be that of
// all functions of one name (ProgramBuilder::one_list_of_a_name).
class ListedSections {
 public:
  explicit ListedSections(const Program& program) : program_(program) {
    const auto is_resolved = [](const Section& section) {
      return section.type == format::kShtCudaResolvedRela;
    };
    if (std::none_of(program.sections.begin(), program.sections.end(), is_resolved)) return;
    for (const Section& section : program.sections) {
      std::uint64_t& end = ends_[section.name];
      end = std::max(end, section.size);
    }
  }

  [[nodiscard]] std::uint64_t EndOf(const Section& list) const {
    const Section& target = program_.sections[list.owner];
    return list.type == format::kShtCudaResolvedRela ? ends_.at(target.name) : target.size;
  }

 private:
  const Program& program_;
  base::HashMap<std::string_view, std::uint64_t> ends_;  // by name
};

// Relocations that were stored or kept. `is_written` tells which symbols the output has.
template <typename IsWritten>
absl::Status CheckRelocated(const Program& program, const Relocated& relocated,
                            std::size_t instances, const IsWritten& is_written) {
  for (const FieldPatch& patch : relocated.patches) {
    DEVLINK_RETURN_IF_ERROR(CheckCount("fields of a section that does not exist",
                                       patch.section >= program.sections.size() ? 1 : 0, 0));
    const Section& section = program.sections[patch.section];
    const std::uint64_t bits = std::uint64_t{patch.field.position} + patch.field.width;
    const std::uint64_t end = patch.offset + (bits + 7) / 8;
    if (end > section.size || end < patch.offset) {
      return Broken("section", section.name, "a field ends at", end, "the section at",
                    section.size);
    }
  }
  DEVLINK_RETURN_IF_ERROR(
      CheckCount("lists of relocations", relocated.kept_in_list.size(), program.sections.size()));
  std::uint64_t counted = 0;
  for (const std::uint32_t count : relocated.kept_in_list) counted += count;
  DEVLINK_RETURN_IF_ERROR(CheckCount("relocations kept", relocated.kept.size(), counted));
  const ListedSections listed(program);
  for (const KeptRelocation& kept : relocated.kept) {
    if (kept.list >= program.sections.size() || kept.symbol >= program.symbols.size()) {
      return CheckCount("relocations of a section or symbol that does not exist", 1, 0);
    }
    const Section& list = program.sections[kept.list];
    const Symbol& symbol = program.symbols[kept.symbol];
    if (list.kind != SectionKind::kRelocations || list.owner >= program.sections.size()) {
      return Broken("section", list.name, "it has relocations, but is of kind",
                    static_cast<std::uint64_t>(list.kind), "and applies to section", list.owner);
    }
    if (const std::uint64_t end = listed.EndOf(list); kept.offset >= end) {
      return Broken("section", list.name, "a relocation applies to", kept.offset,
                    base::Cat({"section '", program.sections[list.owner].name, "' ends at"}), end);
    }
    if (kept.instance != kNone ? kept.instance >= instances : !is_written(kept.symbol)) {
      return Broken("section", list.name,
                    base::Cat({"the output does not have the symbol '", symbol.name, "' of"}),
                    kept.symbol, "which it needs at", kept.offset);
    }
  }
  return absl::OkStatus();
}

class ExecutableVerifier {
 public:
  ExecutableVerifier(const PassResults& passes, std::uint64_t reserved)
      : passes_(passes), program_(passes.program), reserved_(reserved) {}

  absl::Status Run() const {
    DEVLINK_RETURN_IF_ERROR(CheckCounts());
    for (const FunctionId kernel : passes_.liveness.kernels) {
      DEVLINK_RETURN_IF_ERROR(CheckKernel(kernel));
    }
    DEVLINK_RETURN_IF_ERROR(CheckShared());
    DEVLINK_RETURN_IF_ERROR(CheckBanks(passes_.constants.banks));
    DEVLINK_RETURN_IF_ERROR(CheckBanks(passes_.textures.banks));
    return CheckRelocated(program_, passes_.relocated, 0,
                          [this](SymbolId id) { return IsWritten(id); });
  }

 private:
  // Each pass has an answer for each thing that it was asked about.
  absl::Status CheckCounts() const {
    const Liveness& liveness = passes_.liveness;
    const std::size_t functions = program_.functions.size();
    const std::size_t kernels = liveness.kernels.size();
    DEVLINK_RETURN_IF_ERROR(CheckCount("functions of liveness", liveness.live.size(), functions));
    DEVLINK_RETURN_IF_ERROR(CheckCount("sections of liveness", liveness.section_removed.size(),
                                       program_.sections.size()));
    DEVLINK_RETURN_IF_ERROR(
        CheckCount("kernels of shared memory", passes_.shared.kernels.size(), kernels));
    DEVLINK_RETURN_IF_ERROR(
        CheckCount("kernels of resources", passes_.resources.kernels.size(), kernels));
    return CheckCount("functions of attributes", passes_.attributes.functions.size(), functions);
  }

  absl::Status CheckKernel(FunctionId id) const {
    if (id >= program_.functions.size()) {
      return CheckCount("kernels that do not exist", 1, 0);
    }
    const Function& kernel = program_.functions[id];
    const std::string_view name = program_.symbols[kernel.symbol].name;
    if (kernel.text == kNone || program_.sections[kernel.text].kind != SectionKind::kText) {
      return Broken("kernel", name, "its code is section", kernel.text, "of a number of",
                    program_.sections.size());
    }
    if (!passes_.liveness.live[id] || passes_.liveness.section_removed[kernel.text]) {
      return Broken("kernel", name, "it stays, but its code does not: section", kernel.text,
                    "of function", id);
    }
    for (const SectionId section : {kernel.info, kernel.shared}) {
      if (section == kNone || program_.sections[section].function == id) continue;
      return Broken(
          "kernel", name,
          base::Cat({"section '", program_.sections[section].name, "' belongs to function"}),
          program_.sections[section].function, "not to", id);
    }
    return absl::OkStatus();
  }

  // Variables of one kernel lie in its section; where those of several lie, the expensive half
  // asks for each kernel.
  absl::Status CheckShared() const {
    base::HashMap<SectionId, const KernelShared*> kernel_of;
    for (std::size_t i = 0; i < passes_.liveness.kernels.size(); ++i) {
      const Function& kernel = program_.functions[passes_.liveness.kernels[i]];
      if (kernel.shared != kNone) kernel_of[kernel.shared] = &passes_.shared.kernels[i];
    }
    for (const auto& [id, place] : passes_.shared.places) {
      if (id >= program_.symbols.size()) {
        return CheckCount("places of variables that do not exist", 1, 0);
      }
      const Symbol& symbol = program_.symbols[id];
      if (!place.offset || symbol.external_shared) continue;
      if (*place.offset % symbol.align != 0) {
        return Broken("symbol", symbol.name, "it lies at", *place.offset, "and is aligned to",
                      symbol.align);
      }
      const auto kernel = kernel_of.find(place.section);
      if (kernel == kernel_of.end()) continue;
      const std::uint64_t end = *place.offset + symbol.size + (symbol.size != 0 ? reserved_ : 0);
      if (end > kernel->second->size) {
        return Broken("symbol", symbol.name, "it ends at", end,
                      base::Cat({"section '", program_.sections[place.section].name, "' at"}),
                      kernel->second->size);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckBanks(const std::vector<ConstantBank>& banks) const {
    for (const ConstantBank& bank : banks) {
      std::uint64_t end = 0;
      for (const Piece& piece : bank.pieces) {
        if (piece.offset < end) {
          return Broken("section", bank.name, "a piece begins at", piece.offset,
                        "the one before it ends at", end);
        }
        end = piece.offset + piece.bytes.size();
      }
      if (end > bank.size) {
        return Broken("section", bank.name, "its pieces end at", end, "the section at", bank.size);
      }
    }
    return absl::OkStatus();
  }

  // Whether the loader finds the symbol of a relocation that is left to it.
  [[nodiscard]] bool IsWritten(SymbolId id) const {
    const Symbol& symbol = program_.symbols[id];
    if (symbol.function != kNone) return passes_.liveness.live[symbol.function];
    if (symbol.type == format::kSttSection) {
      return symbol.section != kNone && !passes_.liveness.section_removed[symbol.section];
    }
    if (symbol.space != format::kStoShared) return !symbol.constant_size;
    const auto place = passes_.shared.places.find(id);
    return place != passes_.shared.places.end() && place->second.symbol_kept;
  }

  const PassResults& passes_;
  const Program& program_;
  const std::uint64_t reserved_;
};

// Of a program that is to be linked again.
absl::Status VerifyPartial(const PassResults& passes) {
  const Program& program = passes.program;
  DEVLINK_RETURN_IF_ERROR(
      CheckCount("functions of liveness", passes.liveness.live.size(), program.functions.size()));
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    const Section& section = program.sections[id];
    const bool is_shared =
        section.kind == SectionKind::kKernelShared || section.kind == SectionKind::kModuleShared;
    if (is_shared && !passes.shared.partial.sections.contains(id)) {
      return Broken("section", section.name, "nothing is planned for section", id, "of a number of",
                    program.sections.size());
    }
  }
  return CheckRelocated(program, passes.relocated, passes.shared.partial.instances.size(),
                        [](SymbolId) { return true; });
}

}  // namespace

absl::Status VerifyResults(const PassResults& passes, const VerifyOptions& options) {
  DEVLINK_RETURN_IF_ERROR(ProgramVerifier(passes.program, options.sizes_as_nvlink).Run());
  if (options.partial) return VerifyPartial(passes);
  DEVLINK_RETURN_IF_ERROR(ExecutableVerifier(passes, options.reserved).Run());
  return options.expensive ? VerifyMemoryOfKernels(passes, options.reserved) : absl::OkStatus();
}

}  // namespace devlink::internal
