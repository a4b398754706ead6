// SPDX-License-Identifier: Apache-2.0
#include "link/relocate_again.h"

#include <utility>

#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "link/relocation_field.h"

namespace devlink::internal {

namespace {

class Relocator {
 public:
  Relocator(const Program& program, const Liveness& liveness, const RelocateAgainOptions& options)
      : program_(program), liveness_(liveness), options_(options) {
    result_.kept_in_list.assign(program.sections.size(), 0);
  }

  Relocated Run() {
    for (std::uint32_t i = static_cast<std::uint32_t>(program_.relocations.size()); i-- > 0;) {
      const Relocation& relocation = program_.relocations[i];
      if (!IsObsolete(program_, liveness_, relocation, i)) Handle(relocation);
    }
    return std::move(result_);
  }

 private:
  void Handle(const Relocation& relocation) {
    using format::RelocationAction;
    const Symbol& symbol = program_.symbols[relocation.symbol];
    const format::RelocationInfo* info = format::FindRelocation(relocation.type);
    if (!options_.resolve_as_nvlink) return Keep(relocation);
    if (info == nullptr || info->action == RelocationAction::kClear) return;
    const bool function = symbol.function != kNone;
    const bool global = IsGlobalMemory(program_, symbol);
    if (!global && (info->action == RelocationAction::kDrop ||
                    (info->action == RelocationAction::kDropUnlessFunction && !function))) {
      return;
    }
    if (global || function || info->action == RelocationAction::kKeep) return Keep(relocation);
    if (info->action == RelocationAction::kApply) {
      return StoreValue(program_, relocation, *info, ValueOf(relocation, symbol),
                        BankOf(program_, symbol), result_.patches);
    }
    result_.refused.push_back(relocation);
  }

  void Keep(const Relocation& relocation) {
    ++result_.kept_in_list[relocation.list];
    result_.kept.push_back({relocation.offset, relocation.addend, relocation.list, relocation.type,
                            relocation.symbol});
  }

  // What nvlink stores: of shared variables, which have no place yet, the alignment.
  [[nodiscard]] static std::uint64_t ValueOf(const Relocation& relocation, const Symbol& symbol) {
    const auto addend = static_cast<std::uint64_t>(relocation.addend);
    if (symbol.type == format::kSttSection) return addend;
    if (symbol.section == kNone) return ~std::uint64_t{0};
    return (symbol.space == format::kStoShared ? symbol.align : symbol.value) + addend;
  }

  const Program& program_;
  const Liveness& liveness_;
  const RelocateAgainOptions& options_;
  Relocated result_;
};

}  // namespace

Relocated RelocateAgain(const Program& program, const Liveness& liveness,
                        const RelocateAgainOptions& options) {
  return Relocator(program, liveness, options).Run();
}

}  // namespace devlink::internal
