// SPDX-License-Identifier: Apache-2.0
#include "merge/merge.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "devlink/experimental/cubin_writer.h"
#include "format/elf_cuda.h"
#include "model/module.h"
#include "report/dump.h"
#include "support/catch.h"
#include "unit/merge/merged.h"

namespace devlink::testing {
namespace {

TEST_CASE("Without any input a program has what every output has", "[merge]") {
  const Merged merged = MergeInputs(std::vector<ModuleRef>(), {.sm = 90});
  CHECK(internal::DumpProgram(merged.program()) + internal::DumpFileParts(merged.file()) ==
        R"(sections
  .note.nv.tkinfo tool-note size=0x0 align=4 flags=0x2000000
  .note.nv.cuinfo cuda-note size=0x0 align=4 flags=0x1000040
  .nv.info module-info size=0x0 align=4 flags=0x0
  .nv.compat compat size=0x0 align=4 flags=0x0
symbols
  .note.nv.tkinfo section
  .note.nv.cuinfo section
functions
records of .nv.info
relocations
names in .shstrtab
  .shstrtab
  .strtab
  .symtab
  .symtab_shndx
  .note.nv.tkinfo
  .note.nv.cuinfo
  .nv.info
  .nv.compat
names in .strtab
  .shstrtab
  .strtab
  .symtab
  .symtab_shndx
  .note.nv.tkinfo
  .note.nv.cuinfo
  .nv.info
  .nv.compat
cuda note
  0x0: 0x10 bytes, 0c 00 00 00 08 00 00 00 e8 03 00 00 4e 56 49 44
  0x10: 0x10 bytes, 49 41 20 43 6f 72 70 00 02 00 5a 00 82 00 00 00
compat
  0x0: 0x4 bytes, 02 09 00 00
)");
}

TEST_CASE("Only targets from sm_90 on have a compatibility record", "[merge]") {
  CHECK(MergeInputs(std::vector<ModuleRef>(), {.sm = 90}).program().compat != internal::kNone);
  CHECK(MergeInputs(std::vector<ModuleRef>(), {.sm = 89}).program().compat == internal::kNone);
}

TEST_CASE("Things are created in three passes over each input: functions, variables, the rest",
          "[merge]") {
  InputBuilder a;
  a.AddData(".debug_line", 4);
  a.Define(InputBuilder::Variable{.name = "x", .section = a.AddData(".nv.global", 4)});
  a.DefineKernel("k");
  InputBuilder b;
  b.DefineKernel("l");
  b.Define(InputBuilder::Variable{.name = "y", .section = b.AddData(".nv.global.init", 4)});
  const Merged merged = MergeInputs({&a, &b});
  std::string names;
  for (const internal::Section& section : merged.program().sections) {
    names += std::string(section.name) + "\n";
  }
  CHECK(names == R"(.note.nv.tkinfo
.note.nv.cuinfo
.nv.info
.text.k
.nv.info.k
.nv.shared.k
.nv.global
.debug_line
.text.l
.nv.info.l
.nv.shared.l
.nv.global.init
)");
}

TEST_CASE("Findings name both inputs, and the merge stops behind the one at fault", "[merge]") {
  const CubinSpec defines_f = {.functions = {{.name = "f"}}};
  const Merged merged = MergeInputs(LoadCubins({defines_f, defines_f, defines_f}));
  CHECK(merged.result.status().code() == absl::StatusCode::kAlreadyExists);
  REQUIRE(merged.diagnostics.size() == 2);
  CHECK(merged.diagnostics[0].text == "Multiple definition of 'f' in 'b', first defined in 'a'");
  CHECK(merged.diagnostics[1].code == DiagnosticCode::kMergeFailed);
  CHECK(merged.diagnostics[1].input == "b");
}

std::uint64_t GlobalSize(Compatibility compatibility, std::uint64_t first_size) {
  InputBuilder a;
  const SectionHandle memory = a.AddData(".nv.global", (first_size + 4) & 0xffffffff);
  a.Define(
      InputBuilder::Variable{.name = "huge", .section = memory, .size = first_size, .value = 4});
  InputBuilder b;
  const SectionHandle other = b.AddData(".nv.global", 8);
  b.Define(InputBuilder::Variable{.name = "behind", .section = other, .size = 8});
  const Merged merged = MergeInputs({&a, &b}, {.sm = 80, .compatibility = compatibility});
  return std::ranges::find(merged.program().sections, ".nv.global", &internal::Section::name)->size;
}

TEST_CASE("A view that an input does not have is not merged", "[merge]") {
  InputBuilder a(100);
  a.DefineKernel("k");
  const Merged merged = MergeInputs({&a}, {.sm = 100, .view = format::ViewKind::kMercury});
  CHECK_FALSE(merged.result.ok());
  CHECK(merged.Findings() == "Input file 'a' is damaged\n");
}

TEST_CASE("Memory is as large as its variables, where ptxas counts in 32 bits", "[merge]") {
  constexpr std::uint64_t kHuge = (4ULL << 30) + 8;
  CHECK(GlobalSize(Compatibility::kDevlink, 8) == 20);
  CHECK(GlobalSize(Compatibility::kDevlink, kHuge) == kHuge + 12);
  CHECK(GlobalSize(Compatibility::kNvlink, kHuge) == 20);
}

TEST_CASE("Sections of one name that hold different things are not joined", "[merge]") {
  std::vector<internal::LinkInput> inputs;
  for (const std::uint32_t bank : {3U, 4U}) {
    CubinWriter writer({.sm = 80});
    const auto section = writer.AddSection({.name = ".nv.constant.user",
                                            .type = format::kShtCudaConstant0 + bank,
                                            .flags = format::kShfAlloc,
                                            .align = 4});
    writer.AppendZeros(section, 4);
    inputs.push_back({.name = "a", .module = *internal::Module::Load(*writer.Write())});
  }
  internal::MergeOptions options;
  options.sm = 80;
  std::vector<Diagnostic> diagnostics;
  CHECK_FALSE(internal::Merge(inputs, options, diagnostics).ok());
}

}  // namespace
}  // namespace devlink::testing
