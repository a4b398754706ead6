// SPDX-License-Identifier: Apache-2.0
#include "format/views.h"

#include <algorithm>
#include <array>

#include "format/elf_cuda.h"

namespace devlink::format {

namespace {

constexpr std::uint32_t kShfMercury = 0x10000000;
constexpr std::uint32_t kShtMercuryCode = 0x70000016;

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
    TypeRow{0x70000085, kShtSymtab},                  // `.nv.merc.symtab`
    TypeRow{kShtCudaGlobalInit, kShtCudaGlobalInit},  // `.nv.merc.nv.global.init`
};

std::string_view WithoutPrefix(std::string_view name) {
  for (const std::string_view prefix : {".nv.capmerc", ".nv.merc"}) {
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

}  // namespace devlink::format
