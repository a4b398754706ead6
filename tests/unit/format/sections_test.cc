// SPDX-License-Identifier: Apache-2.0
#include "format/sections.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "base/strings.h"
#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "format/views.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using format::RoleOf;
using format::SectionRole;

struct Case {
  std::string_view name;
  std::uint32_t type;
  std::uint64_t flags;
  std::uint32_t info;
  SectionRole role;
};

constexpr std::uint64_t kCode = format::kShfAlloc | format::kShfExec;
constexpr std::uint64_t kOwned = format::kShfAlloc | format::kShfInfoLink;
constexpr std::uint64_t kVariables = format::kShfWrite | format::kShfAlloc;

constexpr std::array kCases = {
    Case{".text.k", format::kShtProgbits, kCode, 5, SectionRole::kText},
    Case{".debug_line", format::kShtProgbits, 0, 0, SectionRole::kDebug},
    Case{".nv_debug_line_sass", format::kShtProgbits, 0, 0, SectionRole::kDebug},
    Case{".note.nv.tkinfo", format::kShtNote, format::kShfTkInfo, 0, SectionRole::kToolNote},
    Case{".note.nv.cuinfo", format::kShtNote, format::kShfCuInfo, 0, SectionRole::kCudaNote},
    Case{".nv.info", format::kShtCudaInfo, 0, 0, SectionRole::kModuleInfo},
    Case{".nv.info.k", format::kShtCudaInfo, format::kShfInfoLink, 7, SectionRole::kFunctionInfo},
    Case{".nv.compat", format::kShtCudaCompat, 0, 0, SectionRole::kCompat},
    Case{".nv.callgraph", format::kShtCudaCallGraph, 0, 0, SectionRole::kCallGraph},
    Case{".nv.prototype", format::kShtCudaPrototype, 0, 0, SectionRole::kPrototype},
    Case{".nv.constant3", format::kShtCudaConstant0 + 3, format::kShfAlloc, 0,
         SectionRole::kConstantBank},
    Case{".nv.constant0.k", format::kShtCudaConstant0, kOwned, 7, SectionRole::kFunctionConstants},
    Case{".nv.constant2.k", format::kShtCudaConstant0 + 2, kOwned, 7,
         SectionRole::kFunctionConstants},
    Case{".nv.global.init", format::kShtCudaGlobalInit, kVariables, 0, SectionRole::kGlobalInit},
    Case{".nv.global", format::kShtCudaGlobal, kVariables, 0, SectionRole::kGlobal},
    Case{".nv.shared.k", format::kShtCudaShared, kOwned | kVariables, 7,
         SectionRole::kKernelShared},
    Case{".nv_debug.shared", format::kShtCudaShared, kVariables, 0, SectionRole::kModuleShared},
    Case{".nv.shared.reserved.0", format::kShtCudaReservedShared, kVariables, 0,
         SectionRole::kReservedShared},
    Case{".rel.text.k", format::kShtRel, format::kShfInfoLink, 7, SectionRole::kRelocations},
    Case{".rela.text.k", format::kShtRela, format::kShfInfoLink, 7, SectionRole::kRelocations},
    Case{".symtab", format::kShtSymtab, 0, 0, SectionRole::kTable},
    Case{".strtab", format::kShtStrtab, 0, 0, SectionRole::kTable}};

TEST_CASE("A section's role follows from type, flags and name", "[format]") {
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    const auto role = RoleOf(c.name, c.type, c.flags, c.info);
    REQUIRE(role.ok());
    CHECK(*role == c.role);
  }
}

TEST_CASE("A section is loaded as its kind is", "[format]") {
  for (const Case& c : kCases) {
    for (const std::uint64_t flag : {format::kShfWrite, format::kShfAlloc, format::kShfExec}) {
      CAPTURE(c.name, flag);
      CHECK_FALSE(RoleOf(c.name, c.type, c.flags ^ flag, c.info).ok());
    }
  }
}

TEST_CASE("No section has the name of one of another type", "[format]") {
  for (const Case& named : kCases) {
    // Names of the file's tables say nothing, and nobody looks at them.
    if (named.role == SectionRole::kTable) continue;
    for (const Case& typed : kCases) {
      if (named.type == typed.type && (named.flags & kCode) == (typed.flags & kCode)) continue;
      // A kernel could be called so.
      if (named.role == SectionRole::kReservedShared && typed.type == format::kShtCudaShared) {
        continue;
      }
      CAPTURE(named.name, typed.name);
      CHECK_FALSE(RoleOf(named.name, typed.type, typed.flags, typed.info).ok());
    }
  }
}

TEST_CASE("The name of constants has their bank", "[format]") {
  CHECK(format::BankOfName(".nv.constant2") == 2);
  CHECK(format::BankOfName(".nv.constant2.f") == format::kCompilerBank);
  CHECK(format::BankOfName(".nv.constant17.f") == 17);
  for (const char* name : {".nv.constant", ".nv.constant.optimizer.f", ".nv.global", "2", ""}) {
    CAPTURE(name);
    CHECK_FALSE(format::BankOfName(name).has_value());
  }
}

TEST_CASE("Shared memory of a kernel says whose it is", "[format]") {
  CHECK_FALSE(RoleOf(".nv.shared.k", format::kShtCudaShared, kVariables, 0).ok());
}

TEST_CASE("What a relocatable cubin does not have has no role", "[format]") {
  CHECK_FALSE(format::RoleOf(".data", format::kShtProgbits, format::kShfAlloc, 0).ok());
  for (const std::string_view name :
       {".nv.compat", ".nv.info", ".nv.info.k", ".nv.callgraph", ".nv.prototype", ".note.nv.cuinfo",
        ".nv.constant0.k", ".nv.constant3", ".nv.global", ".nv.global.init", ".nv.shared.k",
        ".nv_debug.shared", ".text.k", ".nv.unknown"}) {
    CAPTURE(name);
    CHECK_FALSE(format::RoleOf(name, format::kShtProgbits, 0, 0).ok());
  }
  CHECK_FALSE(format::RoleOf(".note.other", format::kShtNote, 0, 0).ok());
  CHECK_FALSE(format::RoleOf(".x", 0x7fffffff, 0, 0).ok());
}

TEST_CASE("Variables lie in data, and content is merged before records", "[format]") {
  CHECK(format::HoldsVariables(SectionRole::kGlobal));
  CHECK(format::HoldsVariables(SectionRole::kKernelShared));
  CHECK_FALSE(format::HoldsVariables(SectionRole::kText));
  CHECK_FALSE(format::HoldsVariables(SectionRole::kDebug));
  CHECK(format::IsContent(SectionRole::kText));
  CHECK(format::IsContent(SectionRole::kDebug));
  CHECK_FALSE(format::IsContent(SectionRole::kRelocations));
  CHECK_FALSE(format::IsContent(SectionRole::kModuleInfo));
}

TEST_CASE("Sections of an output stand in nvlink's order", "[format]") {
  using namespace format;  // NOLINT: the types
  int before = 0;
  struct Section {
    std::string_view name;
    std::uint32_t type;
    std::uint64_t flags = 0;
  };
  constexpr std::uint64_t kData = kShfWrite | kShfAlloc;
  for (const Section& c :
       {Section{".debug_line", kShtProgbits}, Section{".note.nv.tkinfo", kShtNote},
        Section{".nv.info", kShtCudaInfo}, Section{".nv.callgraph", kShtCudaCallGraph},
        Section{".rela.text.k", kShtRela}, Section{".nv.constant0.k", kShtProgbits, kShfAlloc},
        Section{".text.k", kShtProgbits, kShfAlloc | kShfExec},
        Section{".nv.global.init", kShtProgbits, kData},
        Section{".nv_debug.shared", kShtNobits, kData}}) {
    CAPTURE(c.name);
    CHECK(SectionCategory(c.name, c.type, c.flags) == before + 1);
    before = SectionCategory(c.name, c.type, c.flags);
  }
  CHECK(SectionCategory(".nv.shared.k", kShtNobits, kData) == before);
  // Debug sections may have any name.
  for (const std::string_view name : {".nv_debug_ptx_txt", ".mine", ".relax", ".text_x", ".text"}) {
    CHECK(SectionCategory(name, kShtProgbits, 0) == 1);
    CHECK(RoleOf(name, kShtProgbits, 0, 0).value() == SectionRole::kDebug);
  }
}

TEST_CASE("Slots of texture references have the relocations of their kind", "[format]") {
  const auto name = [](std::uint8_t type) {
    return format::FindRelocation(format::SlotRelocation(type))->name;
  };
  CHECK(name(format::kSttCudaTexture) == "TEX_HEADER_INDEX");
  CHECK(name(format::kSttCudaSampler) == "SAMP_HEADER_INDEX");
  CHECK(name(format::kSttCudaSurface) == "SURF_HEADER_INDEX");
}

TEST_CASE("Tables of unified symbols are known, and not linked", "[format]") {
  for (const std::uint32_t type : {0x7000000eU, 0x70000011U, 0x70000012U, 0x70000014U}) {
    CHECK(RoleOf(".nv.uft.entry", type, 0, 0).status().code() == absl::StatusCode::kUnimplemented);
  }
  CHECK(RoleOf(".nv.uft.entry", 0x70000013, 0, 0).status().code() ==
        absl::StatusCode::kInvalidArgument);
}

TEST_CASE("Names of constants are overwritten once for each section", "[format]") {
  base::StringArena kept;
  const auto name = [&](std::string_view of, std::uint32_t times) {
    return format::NameOverwritten(of, times, kept);
  };
  constexpr std::string_view kName = ".nv.constant.optimizer.twelve_bytes";
  CHECK(name(kName, 1) == ".nv.constant2.twelve_bytes");
  CHECK(name(kName, 2) == ".nv.constant2.tes");
  CHECK(name(kName, 3) == ".nv.constant2.");
  CHECK(name(".rela.nv.constant.optimizer.twelve_bytes", 2) == ".rela.nv.constant2.tes");
  CHECK(name(".nv.constant.optimizer.f", 4000000000) == ".nv.constant2.");
  CHECK(name(".nv.constant.user", 2) == ".nv.constant3");
  CHECK(name(".text.f", 2) == ".text.f");
  CHECK(format::IsOverwritten(".nv.constant2.tes", "twelve_bytes"));
  CHECK(format::IsOverwritten(".nv.constant2.", "f"));
  CHECK_FALSE(format::IsOverwritten(".nv.constant2.twelve_bytes", "twelve_bytes"));
  CHECK_FALSE(format::IsOverwritten(".nv.constant2.f", "g"));
  CHECK_FALSE(format::IsOverwritten(".nv.constant3.f", "of"));
}

}  // namespace
}  // namespace devlink::testing
