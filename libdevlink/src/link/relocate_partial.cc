// SPDX-License-Identifier: Apache-2.0
#include "link/relocate_partial.h"

#include <utility>

#include "format/driver_names.h"
#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "link/relocation_field.h"

namespace devlink::internal {

namespace {

class PartialRelocator {
 public:
  PartialRelocator(const Program& program, const Liveness& liveness,
                   const PartialSharedLayout& shared, const RelocatePartialOptions& options)
      : program_(program),
        liveness_(liveness),
        shared_(shared),
        options_(options),
        resolved_(program, options.two_views) {
    result_.kept_in_list.assign(program.sections.size(), 0);
  }

  Relocated Run() {
    const auto& relocations = program_.relocations;
    for (auto relocation = relocations.rbegin(); relocation != relocations.rend(); ++relocation) {
      if (!liveness_.section_removed[relocation->section]) Handle(*relocation);
    }
    return std::move(result_);
  }

 private:
  void Handle(const Relocation& relocation) {
    using format::RelocationAction;
    const Symbol& symbol = program_.symbols[relocation.symbol];
    const format::RelocationInfo* info = format::FindRelocation(relocation.type);
    if (options_.keep_references) return Keep(relocation);
    if (info == nullptr || info->action == RelocationAction::kClear) return;
    if (symbol.name == format::kUnifiedFunctionOffset) return;
    const bool function = symbol.function != kNone;
    const bool global = IsGlobalMemory(program_, symbol);
    if (IsDropped(*info, global, function)) return;
    const bool weak = symbol.binding == format::kStbWeak;  // may come to be another
    if (const auto instance = InstanceOf(relocation, symbol); instance != kNone) {
      return Keep(relocation, instance);
    }
    if (global || function || weak || info->action == RelocationAction::kKeep ||
        IsKeptShared(symbol) || IsRewritten(symbol)) {
      return Keep(relocation);
    }
    if (info->action == RelocationAction::kApply) {
      resolved_.Add(program_, relocation, result_);
      if (!HasField(program_, relocation)) return;
      CountEarly(symbol);
      const std::uint64_t value = ValueOf(relocation, symbol);
      StoreValue(program_, relocation, *info, value, BankOf(program_, symbol), result_.patches);
      if (options_.two_views) ListConstantUse(program_, relocation, value, result_);
      return;
    }
    result_.refused.push_back(relocation);
  }

  [[nodiscard]] bool IsKeptShared(const Symbol& symbol) const {
    return options_.keep_shared && symbol.space == format::kStoShared &&
           symbol.type != format::kSttSection;
  }

  [[nodiscard]] bool IsRewritten(const Symbol& symbol) const {
    return options_.two_views && program_.view == format::ViewKind::kSass &&
           symbol.type == format::kSttSection &&
           program_.sections[symbol.section].name == format::section_name::kDebugLine;
  }

  void CountEarly(const Symbol& symbol) {
    if (symbol.type == format::kSttSection) return;
    if (symbol.space == format::kStoShared) ++result_.early_shared;
    if (symbol.space != format::kStoConstant || symbol.section == kNone) return;
    // A kernel's own bank stays where it is.
    const FunctionId function = program_.sections[symbol.section].function;
    if (function == kNone || !program_.functions[function].is_kernel) ++result_.early_constants;
  }

  void Keep(const Relocation& relocation, std::uint32_t instance = kNone) {
    KeepRelocation(program_, relocation, relocation.type, instance, result_);
  }

  // Of `extern __shared__` in a kernel.
  [[nodiscard]] std::uint32_t InstanceOf(const Relocation& relocation, const Symbol& symbol) const {
    if (!symbol.external_shared || symbol.section != kNone) return kNone;
    const Section& section = program_.sections[relocation.section];
    if (section.kind != SectionKind::kText) return kNone;
    const auto found = shared_.instance_of.find(section.function);
    return found == shared_.instance_of.end() ? kNone : found->second;
  }

  // What nvlink stores: of shared variables, which have no place yet, the alignment.
  [[nodiscard]] std::uint64_t ValueOf(const Relocation& relocation, const Symbol& symbol) const {
    const auto addend = static_cast<std::uint64_t>(relocation.addend);
    if (symbol.type == format::kSttSection) return addend;
    if (symbol.constant_size) return ConstantSize(program_) + addend;
    const auto external = shared_.external_values.find(relocation.symbol);
    if (external != shared_.external_values.end()) return external->second + addend;
    return symbol.value + addend;
  }

  const Program& program_;
  const Liveness& liveness_;
  const PartialSharedLayout& shared_;
  const RelocatePartialOptions& options_;
  const ResolvedLists resolved_;
  Relocated result_;
};

}  // namespace

Relocated RelocatePartial(const Program& program, const Liveness& liveness,
                          const PartialSharedLayout& shared,
                          const RelocatePartialOptions& options) {
  return PartialRelocator(program, liveness, shared, options).Run();
}

}  // namespace devlink::internal
