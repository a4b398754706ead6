// SPDX-License-Identifier: Apache-2.0
#include "format/views.h"

#include <algorithm>
#include <array>

#include "format/elf_cuda.h"

namespace devlink::format {

namespace {

// Types of the Mercury view's own sections, and what they are in machine code. Seen in the output
// of ptxas 13.0 for code of every kind (docs/mercury.md, "Sections").
struct TypeRow {
  std::uint32_t mercury;
  std::uint32_t plain;
  SectionRole role;
};
constexpr std::array kTypes = {
    TypeRow{kShtMercuryCode, kShtProgbits, SectionRole::kText},  // `.nv.capmerc.text.F`
    TypeRow{kShtProgbits, kShtProgbits, SectionRole::kDebug},    // `.nv.merc.debug_frame`
    // `.nv.merc.nv.constant.user`
    TypeRow{0x7000007c, kShtCudaConstant0 + kVariableBank, SectionRole::kConstantBank},
    // `.nv.merc.nv.constant.pic`
    TypeRow{0x7000007d, kShtCudaConstant0 + kPointerBank, SectionRole::kConstantBank},
    TypeRow{kShtMercuryRela, kShtRela, SectionRole::kRelocations},       // `.nv.merc.rela.X`
    TypeRow{kShtMercuryInfo, kShtCudaInfo, SectionRole::kFunctionInfo},  // `.nv.merc.nv.info.F`
    // `.nv.merc.nv.constant.optimizer.F`
    TypeRow{0x70000084, kShtCudaConstant0 + kCompilerBank, SectionRole::kFunctionConstants},
    TypeRow{kShtMercurySymbols, kShtSymtab, SectionRole::kTable},  // `.nv.merc.symtab`
    // `.nv.merc.nv.resolvedrela.X`
    TypeRow{kShtMercuryResolvedRela, kShtCudaResolvedRela, SectionRole::kTable},
    // `.nv.merc.nv.global.init`
    TypeRow{kShtCudaGlobalInit, kShtCudaGlobalInit, SectionRole::kGlobalInit},
    // `.nv.merc.nv.shared.reserved.0`
    TypeRow{kShtCudaReservedShared, kShtCudaReservedShared, SectionRole::kReservedShared},
};

std::string_view WithoutPrefix(std::string_view name) {
  for (const std::string_view prefix : {section_name::kCapsules, section_name::kMercuryPrefix}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

// Machine code has these to itself where there are two views; the Mercury view has its own.
bool IsMachineCodeOnly(std::uint32_t type) {
  return type == kShtProgbits || type == kShtSymtab || type == kShtSymtabShndx || type == kShtRel ||
         type == kShtRela || type == kShtCudaResolvedRela || type == kShtCudaInfo ||
         type == kShtCudaGlobalInit || type == kShtCudaReservedShared || IsConstantType(type);
}

}  // namespace

std::optional<MercuryWords> MercuryWordsOf(SectionRole role, std::uint32_t bank) {
  if (role == SectionRole::kModuleInfo) role = SectionRole::kFunctionInfo;
  const auto* row = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeRow& r) {
    return r.role == role && (role != SectionRole::kConstantBank || BankOfType(r.plain) == bank);
  });
  if (row == kTypes.end() || role == SectionRole::kTable) return std::nullopt;
  return MercuryWords{
      role == SectionRole::kText ? section_name::kCapsules : section_name::kMercuryPrefix,
      row->mercury};
}

std::string_view NameInMachineCode(std::string_view name, base::StringArena& kept) {
  constexpr std::string_view kOptimizer = section_name::kOptimizerConstants;
  std::string_view list;  // of relocations
  std::string_view of = name;
  if (IsNameOfRelocations(name)) {
    list = name.substr(0, name.find('.', 1));
    of.remove_prefix(list.size());
  }
  if (of == section_name::kUserConstants) {
    return kept.Concat(list, section_name::kVariableConstants);
  }
  if (of == section_name::kPointerTable) return kept.Concat(list, section_name::kPointerConstants);
  if (!of.starts_with(kOptimizer)) return name;
  const std::string_view plain =
      kept.Concat(section_name::kCompilerConstants, of.substr(kOptimizer.size()));
  return list.empty() ? plain : kept.Concat(list, plain);
}

std::string_view NameOverwritten(std::string_view name, std::uint32_t times,
                                 base::StringArena& kept) {
  constexpr std::string_view kKind = section_name::kCompilerConstants;
  constexpr std::size_t kShorter = section_name::kOptimizerConstants.size() - kKind.size();
  const std::string_view plain = NameInMachineCode(name, kept);
  const std::size_t kind = plain.find(kKind);
  if (times < 2 || plain.size() == name.size() || kind == std::string_view::npos) return plain;
  const std::size_t behind = kind + kKind.size();
  const std::size_t gone = std::min((times - 1) * kShorter, plain.size() - behind);
  return gone == 0 ? plain : kept.Concat(plain.substr(0, behind), plain.substr(behind + gone));
}

bool IsOverwritten(std::string_view name, std::string_view function) {
  constexpr std::string_view kKind = section_name::kCompilerConstants;
  if (!name.starts_with(kKind)) return false;
  const std::string_view rest = name.substr(kKind.size());
  return rest.size() < function.size() && function.ends_with(rest);
}

bool SharesBytesOfMachineCode(std::string_view debug_section) {
  // Found in the outputs of nvlink for code compiled with -G and -lineinfo, and for PTX with a
  // section of each name that DWARF 2 to 5 know: `.debug_loclists`, for example, is not shared.
  constexpr std::string_view kNames[] = {
      ".debug_abbrev",   ".debug_aranges",  ".debug_loc",    ".debug_macinfo",
      ".debug_pubnames", ".debug_pubtypes", ".debug_ranges", section_name::kDebugStrings};
  return std::ranges::find(kNames, debug_section) != std::end(kNames) ||
         debug_section.starts_with(section_name::kPtxText);
}

bool IsMercurySection(std::uint64_t flags) { return (flags & kShfMercury) != 0; }

bool HasMercuryName(std::string_view name) { return WithoutPrefix(name).size() != name.size(); }

std::optional<SectionWords> SectionInView(ViewKind view, const SectionWords& in_file) {
  const bool own = IsMercurySection(in_file.flags);
  if (view == ViewKind::kSass) return own ? std::nullopt : std::optional(in_file);
  if (!own) return IsMachineCodeOnly(in_file.type) ? std::nullopt : std::optional(in_file);
  SectionWords out{.name = WithoutPrefix(in_file.name),
                   .type = in_file.type,
                   .flags = in_file.flags & ~kShfMercury};
  const auto* row = std::find_if(kTypes.begin(), kTypes.end(),
                                 [&](const TypeRow& r) { return r.mercury == in_file.type; });
  if (row != kTypes.end()) out.type = row->plain;
  // Capsules are never loaded; the code that they stand for is.
  if (in_file.type == kShtMercuryCode) out.flags ^= kShfAlloc | kShfExec;
  return out;
}

int SectionCategoryOfTwoViews(std::string_view name, std::uint32_t type, std::uint32_t flags) {
  constexpr int kParameterCategory = kCapsuleCategory - 1;
  if (!IsMercurySection(flags)) {
    return name.starts_with(section_name::kParameters) ? kParameterCategory
                                                       : SectionCategory(name, type, flags);
  }
  if (!name.starts_with(section_name::kMercuryPrefix)) return kCapsuleCategory;
  name.remove_prefix(section_name::kMercuryPrefix.size());
  if (name.starts_with(section_name::kModuleInfo)) type = kShtCudaInfo;
  if (IsNameOfRelocations(name) || type == kShtMercuryResolvedRela) type = kShtRela;
  return kCapsuleCategory + SectionCategory(name, type, flags);
}

}  // namespace devlink::format
