// SPDX-License-Identifier: Apache-2.0
#include "image/executable_form.h"

#include <string_view>

#include "base/hash_table.h"
#include "format/driver_names.h"
#include "format/elf_cuda.h"
#include "format/views.h"
#include "image/function_records.h"

namespace devlink::internal {

ExecutableForm::ExecutableForm(const PassResults& passes, const ChangedBanks& banks,
                               const ExecutableOptions& options)
    : passes_(passes), program_(passes.program), banks_(banks), options_(options) {
  LeaveOutSections();
  LeaveOutSymbols();
  if (options_.retained != nullptr) LeaveOutUnnamed(*options_.retained);
}

void ExecutableForm::LeaveOutSections() {
  const Liveness& liveness = passes_.liveness;
  left_out_.sections.assign(program_.sections.size(), false);
  for (SectionId id = 0; id < program_.sections.size(); ++id) {
    const bool moved = passes_.constants.moved.contains(id);
    const bool empty = program_.sections[id].only_if_filled && banks_.Of(id) == nullptr;
    left_out_.sections[id] = liveness.section_removed[id] || moved || empty;
  }
  left_out_.names = left_out_.sections;  // what is merely empty leaves its name behind
  if (program_.view == format::ViewKind::kMercury) LeaveOutTableNames();
  for (const FunctionId kernel : liveness.left_out) {
    const SectionId shared = program_.functions[kernel].shared;
    if (shared != kNone) left_out_.names[shared] = false;
  }
  for (std::uint32_t i = 0; i < liveness.kernels.size(); ++i) {
    const SectionId shared = program_.functions[liveness.kernels[i]].shared;
    if (shared == kNone) continue;  // it gets one late, if it needs one at all
    kernel_of_shared_[shared] = i;
    if (!passes_.shared.kernels[i].emitted) left_out_.sections[shared] = true;
  }
  for (SectionId id = 0; id < program_.sections.size(); ++id) {
    if (IsOmitted(id)) left_out_.sections[id] = true;
  }
}

// Of lists of jump tables whose constants were moved to kernels, or went with a replaced body.
void ExecutableForm::LeaveOutTableNames() {
  for (SectionId id = 0; id < program_.sections.size(); ++id) {
    const Section& section = program_.sections[id];
    const bool goes = section.kind == SectionKind::kFunctionConstants && left_out_.sections[id];
    if (goes && section.rela != kNone) left_out_.names[section.rela] = true;
  }
}

void ExecutableForm::LeaveOutSymbols() {
  left_out_.symbols.assign(program_.symbols.size(), false);
  for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
    const Symbol& symbol = program_.symbols[id];
    if (symbol.type == format::kSttSection) {
      left_out_.symbols[id] = left_out_.sections[symbol.section] || LacksSymbol(symbol.section);
    } else {
      left_out_.symbols[id] = IsGone(id);
    }
  }
}

// Variables that are neither `retained` nor named by a relocation or a record.
void ExecutableForm::LeaveOutUnnamed(const std::vector<std::string>& retained) {
  const base::HashSet<std::string_view> listed(retained.begin(), retained.end());
  std::vector<bool> named(program_.symbols.size(), false);
  for (const KeptRelocation& kept : passes_.relocated.kept) named[kept.symbol] = true;
  for (const KeptRelocation& kept : passes_.relocated.kept_in_banks) named[kept.symbol] = true;
  for (const auto& records : program_.info_lists) {
    for (const AttributeRecord& record : records) {
      if (record.symbol != kNone) named[record.symbol] = true;
    }
  }
  for (SymbolId id = 0; id < program_.symbols.size(); ++id) {
    const Symbol& symbol = program_.symbols[id];
    const bool is_variable =
        symbol.type == format::kSttObject || symbol.type == format::kSttCudaObject;
    if (!is_variable || symbol.section == kNone || named[id]) continue;
    if (!listed.contains(symbol.name)) left_out_.symbols[id] = true;
  }
}

// A section that is not written although its function stays.
bool ExecutableForm::IsOmitted(SectionId id) const {
  const Section& section = program_.sections[id];
  switch (section.kind) {
    case SectionKind::kRelocations:
      return passes_.relocated.kept_in_list[id] == 0 || left_out_.sections[section.owner];
    case SectionKind::kModuleShared:
      return !passes_.shared.module_section_emitted;
    case SectionKind::kModuleInfo:
      return !HasModuleRecord(passes_, relocatable());
    default:
      return false;
  }
}

// Sections without bytes have no symbol; which those are differs by kind.
bool ExecutableForm::LacksSymbol(SectionId id) const {
  const Section& section = program_.sections[id];
  switch (section.kind) {
    case SectionKind::kDebug:
      return section.size == 0;
    case SectionKind::kKernelShared:
      return !SharedOf(id).has_symbol;
    case SectionKind::kModuleShared:
      return !passes_.shared.module_section_has_symbol;
    default:
      return false;
  }
}

// A symbol, other than a section's, that the output does not have.
bool ExecutableForm::IsGone(SymbolId id) const {
  const Symbol& symbol = program_.symbols[id];
  if (symbol.function != kNone) return !passes_.liveness.live[symbol.function];
  if (symbol.type == format::kSttFunc) return left_out_.sections[symbol.section];  // a part of one
  if (symbol.constant_size || symbol.unlisted) return true;
  if (symbol.space == format::kStoShared) {
    const auto place = passes_.shared.places.find(id);
    return place == passes_.shared.places.end() || !place->second.symbol_kept;
  }
  const bool is_internal = (symbol.other & format::kStoInternal) != 0;
  if (symbol.section == kNone || !is_internal) return false;
  if (options_.lists_internal) return passes_.constants.moved.contains(symbol.section);
  const SectionKind kind = program_.sections[symbol.section].kind;
  return kind != SectionKind::kGlobal && kind != SectionKind::kGlobalInit;
}

const KernelShared& ExecutableForm::SharedOf(SectionId id) const {
  return passes_.shared.kernels[kernel_of_shared_.at(id)];
}

SectionShape ExecutableForm::ShapeOfSection(SectionId id) const {
  const Section& section = program_.sections[id];
  SectionShape out{.type = section.type,
                   .flags = section.flags,
                   .nobits_size = section.type == format::kShtNobits ? section.size : 0,
                   .align = section.align};
  if (section.kind == SectionKind::kKernelShared) {
    out.nobits_size = SharedOf(id).size;
    out.align = SharedOf(id).align;
  } else if (section.kind == SectionKind::kModuleShared) {
    out.nobits_size = passes_.shared.module_section_size;
    out.align = passes_.shared.module_section_align;
  } else if (section.kind == SectionKind::kText) {
    const FunctionId function = section.function;
    const bool kept =
        function != kNone && passes_.attributes.functions[function].keeps_barrier_flags;
    if (!kept) out.flags &= ~format::kShfBarriers;  // an attribute says it
  } else if (section.kind == SectionKind::kReservedShared) {
    out.nobits_size = format::kReservedSharedPlace + section.size;
  }
  if (const ConstantBank* bank = banks_.Of(id)) out.align = bank->align;
  return out;
}

SymbolShape ExecutableForm::ShapeOfSymbol(SymbolId id) const {
  const Symbol& symbol = program_.symbols[id];
  SymbolShape out{.binding = symbol.binding,
                  .type = symbol.type,
                  .other = symbol.other,
                  .section = symbol.section,
                  .value = symbol.value};
  // Tables of unified functions are left to the loader; nvlink keeps the name and nothing else.
  out.name_only =
      symbol.section == kNone && symbol.function == kNone && format::IsUnifiedTable(symbol.name);
  // The Mercury view keeps what inputs say of variables.
  if (program_.view == format::ViewKind::kMercury && symbol.type == format::kSttObject) {
    out.type = format::kSttCudaObject;
    out.other |= symbol.space;
  }
  if (symbol.space == format::kStoShared && symbol.type != format::kSttSection && !out.name_only) {
    const SharedPlace& place = passes_.shared.places.at(id);
    const bool shifted = !symbol.external_shared || passes_.shared.external_symbols_shifted;
    // Only a debugger can name them from outside of the file.
    if (options_.lists_internal && !passes_.shared.for_debugger) out.other |= format::kStoInternal;
    out.section = place.section;
    out.late_kernel = place.late_kernel;
    const bool moved = symbol.section != kNone && place.section != symbol.section;
    if (moved && options_.moved_shared_is_local) out.binding = format::kStbLocal;
    // `extern __shared__` begins elsewhere for every kernel: nvlink counts from -1.
    const std::uint64_t nowhere = passes_.shared.for_debugger ? 0 : ~std::uint64_t{0};
    out.value = place.offset.value_or(nowhere) + (shifted ? passes_.shared.reserved : 0);
  } else if (symbol.space == format::kStoReservedShared &&
             program_.view == format::ViewKind::kSass) {
    out.value += format::kReservedSharedPlace;
  }
  return out;
}

}  // namespace devlink::internal
