// SPDX-License-Identifier: Apache-2.0
#include "format/sections.h"

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace devlink::format {

namespace {

using Role = SectionRole;

// The first row that fits counts. Found in what ptxas 13.x and nvlink -r write.
struct SectionRow {
  std::uint32_t type;
  Role role;
  std::uint64_t mask = 0;    // flags that matter,
  std::uint64_t flags = 0;   // and their values
  std::string_view name;     // empty: any
  bool with_suffix = false;  // the name begins with it
};
constexpr std::array kSectionRows = {
    SectionRow{kShtProgbits, Role::kText, kShfExec, kShfExec},
    SectionRow{kShtProgbits, Role::kDebug, kShfExec | kShfAlloc | kShfInfoLink, 0},
    SectionRow{kShtNote, Role::kToolNote, 0, 0, section_name::kToolNote},
    SectionRow{kShtNote, Role::kCudaNote, 0, 0, section_name::kCudaNote},
    SectionRow{kShtNote, Role::kCudaNote, 0, 0, section_name::kOldCudaNote},
    SectionRow{kShtCudaInfo, Role::kModuleInfo, 0, 0, section_name::kModuleInfo},
    SectionRow{kShtCudaInfo, Role::kFunctionInfo, 0, 0, section_name::kFunctionInfo, true},
    SectionRow{kShtCudaCompat, Role::kCompat, 0, 0, section_name::kCompat},
    SectionRow{kShtCudaCallGraph, Role::kCallGraph, 0, 0, section_name::kCallGraph},
    SectionRow{kShtCudaPrototype, Role::kPrototype, 0, 0, section_name::kPrototypes},
    SectionRow{kShtRel, Role::kRelocations, 0, 0, section_name::kRel, true},
    SectionRow{kShtRela, Role::kRelocations, 0, 0, section_name::kRela, true},
    SectionRow{kShtCudaGlobalInit, Role::kGlobalInit, 0, 0, section_name::kGlobalInit},
    SectionRow{kShtCudaGlobal, Role::kGlobal, 0, 0, section_name::kGlobal},
    SectionRow{kShtCudaShared, Role::kKernelShared, kShfInfoLink, kShfInfoLink,
               section_name::kKernelShared, true},
    SectionRow{kShtCudaShared, Role::kModuleShared, kShfInfoLink, 0, section_name::kModuleShared},
    // Of sm_110, a variable that no code refers to (docs/mercury.md, "Reserved shared memory").
    SectionRow{kShtCudaReservedShared, Role::kReservedShared, 0, 0, section_name::kReservedShared,
               true},
    SectionRow{kShtSymtab, Role::kTable},
    SectionRow{kShtStrtab, Role::kTable},
    SectionRow{kShtSymtabShndx, Role::kTable},
    // What nvlink -r -preserve-relocs says of relocations that it has dealt with. No link asks.
    SectionRow{kShtCudaResolvedRela, Role::kTable, 0, 0, section_name::kResolvedRela, true},
};

bool HasName(const SectionRow& row, std::string_view name) {
  if (row.role == Role::kRelocations && !IsNameOfRelocations(name)) return false;
  return row.with_suffix ? name.starts_with(row.name) : row.name.empty() || row.name == name;
}

// As all names in the rows do; those of code and debug information do not.
constexpr bool BeginsAsNamed(std::string_view name) {
  return name.starts_with(".n") || name.starts_with(".r");
}
static_assert(std::ranges::all_of(kSectionRows, [](const SectionRow& row) {
  return row.name.empty() || BeginsAsNamed(row.name);
}));

// Whether a section of such a name can have the type and the flags, as far as the name is not in
// the rows.
bool FitsName(std::string_view name, std::uint32_t type, std::uint64_t flags) {
  const bool is_code = (flags & kShfExec) != 0;
  const bool is_owned = (flags & kShfInfoLink) != 0;
  if (IsNameOfCode(name)) return type == kShtProgbits && is_code;
  if (name.starts_with(section_name::kDebug) || name.starts_with(section_name::kNvDebug)) {
    return type == kShtProgbits && !is_code;
  }
  if (name == section_name::kModuleShared) return type == kShtCudaShared;
  if (!name.starts_with(section_name::kNv)) return true;
  if (name == section_name::kGlobalInit) return type == kShtCudaGlobalInit;
  if (name == section_name::kGlobal) return type == kShtCudaGlobal;
  return type == kShtCudaShared && is_owned && name.starts_with(section_name::kKernelShared);
}

// A section of a type that may have any name, and has that of others: nvlink joins its bytes to
// theirs, or loses what refers to it.
bool IsNameOfOtherType(std::string_view name, std::uint32_t type, std::uint64_t flags) {
  if (!FitsName(name, type, flags)) return true;
  return BeginsAsNamed(name) && std::ranges::any_of(kSectionRows, [&](const SectionRow& row) {
           return row.type != type && !row.name.empty() && HasName(row, name);
         });
}

// The number in `.nv.constantN`, and how many digits it has: none where a word stands there.
struct BankNumber {
  std::uint32_t bank = 0;
  std::size_t digits = 0;
};

std::optional<BankNumber> ReadBankNumber(std::string_view name) {
  if (!name.starts_with(section_name::kConstants)) return std::nullopt;
  name.remove_prefix(section_name::kConstants.size());
  BankNumber out;
  for (; out.digits < name.size() && out.digits < 2 && name[out.digits] >= '0' &&
         name[out.digits] <= '9';
       ++out.digits) {
    out.bank = out.bank * 10 + static_cast<std::uint32_t>(name[out.digits] - '0');
  }
  return out;
}

// `.nv.constant3` is a bank of variables, `.nv.constant2.F` belongs to a function. The Mercury view
// has words in place of numbers.
bool FitsConstants(std::string_view name, std::uint32_t type, bool owned) {
  const auto number = ReadBankNumber(name);
  if (!number) return false;
  if (number->digits == 0) return true;
  const bool has_owner = name.size() > section_name::kConstants.size() + number->digits;
  return number->bank == BankOfType(type) && has_owner == owned;
}

absl::StatusOr<SectionRole> RoleByName(std::string_view name, std::uint32_t type,
                                       std::uint64_t flags, std::uint32_t info) {
  if (IsConstantType(type)) {  // one type per bank
    const bool owned = (flags & kShfInfoLink) != 0 && info != 0;
    if (!FitsConstants(name, type, owned)) {
      return absl::InvalidArgumentError("its name is not that of constants of its type");
    }
    return owned ? Role::kFunctionConstants : Role::kConstantBank;
  }
  if (IsNameOfRelocations(name) &&
      type != (name.starts_with(section_name::kRela) ? kShtRela : kShtRel)) {
    return absl::InvalidArgumentError("its name is that of relocations, which it does not hold");
  }
  for (const SectionRow& row : kSectionRows) {
    if (row.type != type || (flags & row.mask) != row.flags || !HasName(row, name)) continue;
    if (row.name.empty() && IsNameOfOtherType(name, type, flags)) {
      return absl::InvalidArgumentError("its name is that of a section of another type");
    }
    return row.role;
  }
  if (type == kShtProgbits) {
    return absl::InvalidArgumentError(
        "a loaded section of a kind that a relocatable cubin does not have");
  }
  if (IsUnifiedType(type)) {
    return absl::UnimplementedError("a table of unified symbols, which this release does not link");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a section of type 0x", absl::Hex(type), ", which this release does not link"));
}

// With which flags a section is loaded: the same in every cubin of sm_75 to sm_121 seen.
std::uint64_t LoadingOf(SectionRole role) {
  switch (role) {
    case Role::kText:
      return kShfAlloc | kShfExec;
    case Role::kConstantBank:
    case Role::kFunctionConstants:
      return kShfAlloc;
    default:
      return HoldsVariables(role) ? kShfWrite | kShfAlloc : 0;
  }
}

}  // namespace

std::optional<std::uint32_t> BankOfName(std::string_view name) {
  const auto number = ReadBankNumber(name);
  if (!number || number->digits == 0) return std::nullopt;
  return number->bank;
}

absl::StatusOr<SectionRole> RoleOf(std::string_view name, std::uint32_t type, std::uint64_t flags,
                                   std::uint32_t info) {
  auto role = RoleByName(name, type, flags, info);
  if (role.ok() && (flags & kShfLoading) != LoadingOf(*role)) {
    return absl::InvalidArgumentError("its flags are not those with which its kind is loaded");
  }
  return role;
}

int SectionCategory(std::string_view name, std::uint32_t type, std::uint64_t flags) {
  switch (type) {
    case kShtProgbits:
      if ((flags & (kShfAlloc | kShfExec)) == 0) return 1;  // debug sections, whatever their name
      break;
    case kShtNote:
      return 2;
    case kShtCudaInfo:
    case kShtCudaCompat:
    case kShtCudaHost:
      return 3;
    case kShtCudaCallGraph:
    case kShtCudaPrototype:
    case kShtCudaRelocInfo:
      return 4;
    case kShtRel:
    case kShtRela:
    case kShtCudaResolvedRela:
      return 5;
    default:
      break;
  }
  if (name.starts_with(section_name::kConstants)) return 6;
  if (name.starts_with(section_name::kText)) return 7;
  return name == section_name::kGlobalInit ? 8 : 9;
}

}  // namespace devlink::format
