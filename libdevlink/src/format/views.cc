// SPDX-License-Identifier: Apache-2.0
#include "format/views.h"

#include <algorithm>
#include <array>

#include "format/elf_cuda.h"

namespace devlink::format {

namespace {

constexpr std::uint32_t kShtMercuryCode = 0x70000016;

// What names of the Mercury view's own sections begin with.
constexpr std::string_view kCapsulePrefix = ".nv.capmerc";
constexpr std::string_view kMercuryPrefix = ".nv.merc";

// Types of the Mercury view's own sections, and what they are in machine code. Seen in the output
// of ptxas 13.0 for code of every kind (docs/mercury.md, "Sections").
struct TypeRow {
  std::uint32_t mercury;
  std::uint32_t plain;
};
constexpr std::array kTypes = {
    TypeRow{kShtMercuryCode, kShtProgbits},           // `.nv.capmerc.text.F`
    TypeRow{kShtProgbits, kShtProgbits},              // `.nv.merc.debug_frame`
    TypeRow{0x7000007c, kShtCudaConstant0 + 3},       // `.nv.merc.nv.constant.user`
    TypeRow{0x70000082, kShtRela},                    // `.nv.merc.rela.X`
    TypeRow{0x70000083, kShtCudaInfo},                // `.nv.merc.nv.info.F`
    TypeRow{0x70000084, kShtCudaConstant0 + 2},       // `.nv.merc.nv.constant.optimizer.F`
    TypeRow{kShtMercurySymbols, kShtSymtab},          // `.nv.merc.symtab`
    TypeRow{kShtCudaGlobalInit, kShtCudaGlobalInit},  // `.nv.merc.nv.global.init`
};

std::string_view WithoutPrefix(std::string_view name) {
  for (const std::string_view prefix : {kCapsulePrefix, kMercuryPrefix}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

// Machine code has these to itself where there are two views; the Mercury view has its own.
bool IsMachineCodeOnly(std::uint32_t type) {
  return type == kShtProgbits || type == kShtSymtab || type == kShtSymtabShndx || type == kShtRel ||
         type == kShtRela || type == kShtCudaInfo || type == kShtCudaGlobalInit ||
         IsConstantType(type);
}

}  // namespace

std::optional<MercuryWords> MercuryWordsOf(SectionRole role) {
  switch (role) {
    case SectionRole::kText:
      return MercuryWords{kCapsulePrefix, kShtMercuryCode};
    case SectionRole::kDebug:
      return MercuryWords{kMercuryPrefix, kShtProgbits};
    case SectionRole::kModuleInfo:
    case SectionRole::kFunctionInfo:
      return MercuryWords{kMercuryPrefix, 0x70000083};
    case SectionRole::kRelocations:
      return MercuryWords{kMercuryPrefix, 0x70000082};
    case SectionRole::kConstantBank:
      return MercuryWords{kMercuryPrefix, 0x7000007c};
    case SectionRole::kFunctionConstants:
      return MercuryWords{kMercuryPrefix, 0x70000084};
    case SectionRole::kGlobalInit:
      return MercuryWords{kMercuryPrefix, kShtCudaGlobalInit};
    default:
      return std::nullopt;
  }
}

std::string_view NameInMachineCode(std::string_view name, base::StringArena& kept) {
  constexpr std::string_view kUser = ".nv.constant.user";
  constexpr std::string_view kOptimizer = ".nv.constant.optimizer.";
  static_assert(CompilerConstantsPrefix(ViewKind::kMercury) == kOptimizer);
  std::string_view list;  // of relocations
  std::string_view of = name;
  for (const std::string_view prefix : {section_name::kRela, section_name::kRel}) {
    if (!name.starts_with(prefix)) continue;
    list = prefix;
    of.remove_prefix(prefix.size());
    break;
  }
  if (of == kUser) return kept.Concat(list, ".nv.constant3");
  if (!of.starts_with(kOptimizer)) return name;
  const std::string_view plain =
      kept.Concat(CompilerConstantsPrefix(ViewKind::kSass), of.substr(kOptimizer.size()));
  return list.empty() ? plain : kept.Concat(list, plain);
}

bool SharesBytesOfMachineCode(std::string_view debug_section) {
  // Found in the outputs of nvlink for code compiled with -G and -lineinfo.
  constexpr std::array<std::string_view, 6> kNames = {".debug_abbrev",   ".debug_loc",
                                                      ".debug_pubnames", ".debug_pubtypes",
                                                      ".debug_str",      ".nv_debug_ptx_txt"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view name) { return debug_section.starts_with(name); });
}

bool IsMercurySection(std::uint32_t flags) { return (flags & kShfMercury) != 0; }

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
  if (in_file.type == kShtMercuryCode) out.flags |= kShfAlloc | kShfExec;
  return out;
}

int SectionCategoryOfTwoViews(std::string_view name, std::uint32_t type, std::uint32_t flags) {
  constexpr int kParameterCategory = 10;
  constexpr int kMercury = kParameterCategory + 1;  // capsules; all others stand as in machine code
  if (!IsMercurySection(flags)) {
    return name.starts_with(section_name::kParameters) ? kParameterCategory
                                                       : SectionCategory(name, type);
  }
  if (!name.starts_with(kMercuryPrefix)) return kMercury;
  name.remove_prefix(kMercuryPrefix.size());
  if (name.starts_with(section_name::kModuleInfo)) type = kShtCudaInfo;
  if (name.starts_with(section_name::kRela)) type = kShtRela;
  return kMercury + SectionCategory(name, type);
}

}  // namespace devlink::format
