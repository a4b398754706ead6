// SPDX-License-Identifier: Apache-2.0
#include "model/view_symbols.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/sections.h"

namespace devlink::internal {

namespace {

class SymbolPairs {
 public:
  SymbolPairs(const ModuleView& sass, const ModuleView& mercury)
      : sass_(sass), mercury_(mercury), mercury_sections_(mercury.sections()) {}

  [[nodiscard]] bool Agree(std::uint32_t index) const {
    const InputSymbol sass = sass_.SymbolAt(index);
    const InputSymbol mercury = mercury_.SymbolAt(index);
    const bool is_undefined = sass.section == format::kShnUndef;
    if (mercury.type != sass.type || mercury.binding != sass.binding ||
        mercury.other != sass.other || (mercury.section == format::kShnUndef) != is_undefined ||
        (is_undefined && mercury.size != sass.size)) {
      return false;
    }
    // Those of sections are named as the sections are.
    if (sass.type == format::kSttSection) return true;
    if (mercury.name != sass.name) return false;
    if (sass.type == format::kSttFunc) {
      return is_undefined || MachineCodeOf(mercury.section) == sass.section;
    }
    return is_undefined || IsSameVariable(sass, mercury);
  }

 private:
  // The machine code that a capsule stands for.
  [[nodiscard]] std::uint32_t MachineCodeOf(std::uint32_t capsule) const {
    if (capsule >= mercury_sections_.size()) return 0;
    return format::MachineCodeOf(mercury_sections_[capsule].data);
  }

  // Where shared memory lies each of the views says itself.
  [[nodiscard]] bool IsSameVariable(const InputSymbol& sass, const InputSymbol& mercury) const {
    if (sass.size != mercury.size) return false;
    const bool is_reserved = sass.section >= format::kReservedSection;
    if (is_reserved != (mercury.section >= format::kReservedSection)) return false;
    if (is_reserved) return true;
    switch (sass_.RoleAt(sass.section)) {
      case SectionRole::kFunctionConstants:
        return sass.value == mercury.value &&
               mercury_.RoleAt(mercury.section) == SectionRole::kFunctionConstants &&
               MachineCodeOf(mercury_sections_[mercury.section].info) ==
                   sass_.SectionAt(sass.section).info;
      case SectionRole::kGlobal:
      case SectionRole::kGlobalInit:
      case SectionRole::kConstantBank:
        return sass.value == mercury.value &&
               mercury_.RoleAt(mercury.section) == sass_.RoleAt(sass.section);
      default:
        return true;
    }
  }

  const ModuleView& sass_;
  const ModuleView& mercury_;
  std::vector<InputSection> mercury_sections_;
};

}  // namespace

absl::Status CheckSymbolsAgree(const ModuleView& sass, const ModuleView& mercury) {
  if (mercury.symbol_count() > sass.symbol_count()) {
    return absl::InvalidArgumentError("its second view has symbols that its first one lacks");
  }
  const SymbolPairs pairs(sass, mercury);
  for (std::uint32_t i = 0; i < mercury.symbol_count(); ++i) {
    if (pairs.Agree(i)) continue;
    return absl::InvalidArgumentError(absl::StrCat("symbol ", i, " '",
                                                   base::ToAbsl(sass.SymbolAt(i).name),
                                                   "': its two views do not agree on it"));
  }
  return absl::OkStatus();
}

}  // namespace devlink::internal
