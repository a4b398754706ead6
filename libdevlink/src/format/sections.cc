// SPDX-License-Identifier: Apache-2.0
#include "format/sections.h"

#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace devlink::format {

namespace {

using Role = SectionRole;

// The first row that fits counts. Found in what ptxas 13.x and nvlink -r write.
struct Row {
  std::uint32_t type;
  Role role;
  std::uint64_t mask = 0;   // flags that matter,
  std::uint64_t flags = 0;  // and their values
  std::string_view name;    // empty: any
};
constexpr std::array kRows = {
    Row{kShtProgbits, Role::kText, kShfExec, kShfExec},
    Row{kShtProgbits, Role::kDebug, kShfExec | kShfAlloc, 0},
    Row{kShtNote, Role::kToolNote, 0, 0, section_name::kToolNote},
    Row{kShtNote, Role::kCudaNote, 0, 0, section_name::kCudaNote},
    Row{kShtCudaInfo, Role::kModuleInfo, 0, 0, section_name::kModuleInfo},
    Row{kShtCudaInfo, Role::kFunctionInfo},
    Row{kShtCudaCompat, Role::kCompat},
    Row{kShtCudaCallGraph, Role::kCallGraph},
    Row{kShtCudaPrototype, Role::kPrototype},
    Row{kShtRel, Role::kRelocations},
    Row{kShtRela, Role::kRelocations},
    Row{kShtCudaGlobalInit, Role::kGlobalInit},
    Row{kShtCudaGlobal, Role::kGlobal},
    Row{kShtCudaShared, Role::kEntryShared, kShfInfoLink, kShfInfoLink},
    Row{kShtCudaShared, Role::kModuleShared},
    Row{0, Role::kTable},
    Row{kShtSymtab, Role::kTable},
    Row{kShtStrtab, Role::kTable},
    Row{kShtSymtabShndx, Role::kTable},
};

}  // namespace

absl::StatusOr<SectionRole> RoleOf(std::string_view name, std::uint32_t type, std::uint64_t flags,
                                   std::uint32_t info) {
  if (IsConstantType(type)) {  // one type per bank
    const bool owned = (flags & kShfInfoLink) != 0 && info != 0;
    return owned ? Role::kFunctionConstants : Role::kConstantBank;
  }
  for (const Row& row : kRows) {
    if (row.type == type && (flags & row.mask) == row.flags &&
        (row.name.empty() || row.name == name)) {
      return row.role;
    }
  }
  if (type == kShtProgbits) {
    return absl::InvalidArgumentError(
        "a loaded section of a kind that a relocatable cubin does not have");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a section of type 0x", absl::Hex(type), ", which this release does not link"));
}

int SectionCategory(std::string_view name, std::uint32_t type) {
  if (name.starts_with(section_name::kDebug) || name.starts_with(section_name::kNvDebug)) return 1;
  switch (type) {
    case kShtNote:
      return 2;
    case kShtCudaInfo:
    case kShtCudaCompat:
      return 3;
    case kShtCudaCallGraph:
    case kShtCudaPrototype:
    case kShtCudaRelocInfo:
      return 4;
    case kShtRel:
    case kShtRela:
      return 5;
    default:
      break;
  }
  if (name.starts_with(section_name::kConstants)) return 6;
  if (name.starts_with(section_name::kText)) return 7;
  return name == section_name::kGlobalInit ? 8 : 9;
}

}  // namespace devlink::format
