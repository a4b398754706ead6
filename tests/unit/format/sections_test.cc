// SPDX-License-Identifier: Apache-2.0
#include "format/sections.h"

#include <cstdint>
#include <string_view>

#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using format::SectionRole;

TEST_CASE("A section's role follows from type, flags and name", "[format]") {
  using namespace format;  // NOLINT: the types
  struct Case {
    std::string_view name;
    std::uint32_t type;
    std::uint64_t flags;
    std::uint32_t info;
    SectionRole role;
  };
  for (const Case& c :
       {Case{".text.k", kShtProgbits, kShfAlloc | kShfExec, 5, SectionRole::kText},
        Case{".debug_line", kShtProgbits, 0, 0, SectionRole::kDebug},
        Case{".note.nv.tkinfo", kShtNote, kShfTkInfo, 0, SectionRole::kToolNote},
        Case{".note.nv.cuinfo", kShtNote, kShfCuInfo, 0, SectionRole::kCudaNote},
        Case{".nv.info", kShtCudaInfo, 0, 0, SectionRole::kModuleInfo},
        Case{".nv.info.k", kShtCudaInfo, kShfInfoLink, 7, SectionRole::kFunctionInfo},
        Case{".nv.constant3", kShtCudaConstant0 + 3, kShfAlloc, 0, SectionRole::kConstantBank},
        Case{".nv.constant0.k", kShtCudaConstant0, kShfAlloc | kShfInfoLink, 7,
             SectionRole::kFunctionConstants},
        Case{".nv.shared.k", kShtCudaShared, kShfAlloc | kShfInfoLink, 7,
             SectionRole::kKernelShared},
        Case{".nv_debug.shared", kShtCudaShared, kShfAlloc, 0, SectionRole::kModuleShared},
        Case{".rela.text.k", kShtRela, kShfInfoLink, 7, SectionRole::kRelocations},
        Case{".symtab", kShtSymtab, 0, 0, SectionRole::kTable}}) {
    CAPTURE(c.name);
    const auto role = RoleOf(c.name, c.type, c.flags, c.info);
    REQUIRE(role.ok());
    CHECK(*role == c.role);
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

TEST_CASE("What a relocatable cubin does not have has no role", "[format]") {
  CHECK_FALSE(format::RoleOf(".data", format::kShtProgbits, format::kShfAlloc, 0).ok());
  for (const std::string_view name :
       {".nv.compat", ".nv.info", ".nv.info.k", ".nv.callgraph", ".nv.prototype", ".note.nv.cuinfo",
        ".nv.constant0.k", ".nv.constant3", ".nv.global", ".nv.global.init", ".nv.shared.k",
        ".nv_debug.shared", ".text.k"}) {
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
  struct Case {
    std::string_view name;
    std::uint32_t type;
  };
  for (const Case& c : {Case{".debug_line", kShtProgbits}, Case{".note.nv.tkinfo", kShtNote},
                        Case{".nv.info", kShtCudaInfo}, Case{".nv.callgraph", kShtCudaCallGraph},
                        Case{".rela.text.k", kShtRela}, Case{".nv.constant0.k", kShtProgbits},
                        Case{".text.k", kShtProgbits}, Case{".nv.global.init", kShtProgbits},
                        Case{".nv_debug.shared", kShtNobits}}) {
    CAPTURE(c.name);
    CHECK(SectionCategory(c.name, c.type) == before + 1);
    before = SectionCategory(c.name, c.type);
  }
  CHECK(SectionCategory(".nv_debug_ptx_txt", kShtProgbits) == 1);
  CHECK(SectionCategory(".nv.shared.k", kShtNobits) == before);
}

TEST_CASE("Slots of texture references have the relocations of their kind", "[format]") {
  const auto name = [](std::uint8_t type) {
    return format::FindRelocation(format::SlotRelocation(type))->name;
  };
  CHECK(name(format::kSttCudaTexture) == "TEX_HEADER_INDEX");
  CHECK(name(format::kSttCudaSampler) == "SAMP_HEADER_INDEX");
  CHECK(name(format::kSttCudaSurface) == "SURF_HEADER_INDEX");
}

}  // namespace
}  // namespace devlink::testing
