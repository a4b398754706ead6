// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include "format/nv_info.h"
#include "support/catch.h"
#include "unit/link/linked.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

std::string UsageOf(const Linked& linked) {
  const LinkReport report = internal::MakeReport(linked.passes, linked.merged.inputs);
  std::string out;
  for (const Diagnostic& line : internal::DescribeUsage(linked.passes, report)) {
    CHECK(line.severity == Severity::kInfo);
    out += line.text + "\n";
  }
  return out;
}

TEST_CASE("A report tells what each kernel needs and which functions are dead", "[report]") {
  InputBuilder a;
  const SymbolHandle k = a.Define(Function{.name = "k", .kernel = true, .registers = 10});
  const SymbolHandle f = a.Define(Function{.name = "f", .registers = 24});
  a.AddCall(k, f);
  a.AddModuleRecord(format::kAttrFrameSize, f, 32);
  a.AddRecord(f, format::kInfoByteValue, format::kAttrNumBarriers, 2);
  a.AddData(".nv.constant0.k", 0x168, k);
  a.Define(Variable{.name = "s",
                    .section = a.AddData(".nv.shared.k", 0, k),
                    .space = format::kStoShared,
                    .size = 12,
                    .value = 4});
  a.Define(Variable{.name = "x", .section = a.AddData(".nv.global", 100), .size = 100});
  a.Define(Function{.name = "dead"});
  const Linked linked({&a});
  const LinkReport report = internal::MakeReport(linked.passes, linked.merged.inputs);
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].name == "k");
  CHECK(report.kernels[0].registers == 24);
  CHECK(report.kernels[0].barriers == 2);
  CHECK(report.kernels[0].stack_bytes == 32);
  CHECK(report.kernels[0].shared_bytes == 12);
  CHECK(report.kernels[0].parameter_bytes == 0x168);
  CHECK(report.dead_functions == std::vector<std::string>{"dead"});
  CHECK(report.global_bytes == 100);
  CHECK(report.inputs == 1);
  CHECK(report.input_bytes > 0);
}

TEST_CASE("Usage is told as nvlink -v tells it, last kernel first", "[report]") {
  InputBuilder a;
  a.AddConstants(a.DefineKernel("k"), 16);
  a.AddData(".nv.constant3", 24);
  a.AddData(".nv.constant4", 40);
  a.DefineKernel("l");
  CHECK(UsageOf(Linked({&a})) == R"(0 bytes gmem, 24 bytes cmem[3], 40 bytes cmem[4]
Function properties for 'l':
used 8 registers, used 0 barriers, 0 stack, 0 bytes smem, 0 bytes cmem[0], 0 bytes lmem
Function properties for 'k':
used 8 registers, used 0 barriers, 0 stack, 0 bytes smem, 0 bytes cmem[0], 16 bytes cmem[2], 0 bytes lmem
)");
}

TEST_CASE("Slots of texture references are counted", "[report]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  a.AddData(".nv.constant0.k", 0x160, k);
  const SymbolHandle t =
      a.Define(Variable{.name = "t", .space = 0, .size = 0, .type = format::kSttCudaTexture});
  a.Relocate(a.TextOf(k), 0, kAbs32, t);
  CHECK(UsageOf(Linked({&a})) == R"(0 bytes gmem
Function properties for 'k':
used 8 registers, used 0 barriers, 0 stack, 0 bytes smem, 356 bytes cmem[0], 0 bytes lmem, 1 textures
)");
}

TEST_CASE("References that nvlink -r resolves early are told", "[report]") {
  internal::Relocated relocated;
  CHECK(!internal::WarnOfEarlyReferences(relocated));
  relocated.early_shared = 2;
  relocated.early_constants = 1;
  const auto warning = internal::WarnOfEarlyReferences(relocated);
  REQUIRE(warning);
  REQUIRE(!warning->notes.empty());
  CHECK(warning->notes[0].starts_with("2 references to shared memory and 1 to constants"));
}

TEST_CASE("A report is JSON", "[report]") {
  LinkReport report;
  report.kernels.push_back({.name = "k\""});
  report.dead_functions = {"f", "g"};
  CHECK(ToJson(report) == R"({
  "kernels": [
    {"name": "k\"", "registers": 0, "barriers": 0, "stack_bytes": null, "shared_bytes": 0, "parameter_bytes": 0}
  ],
  "dead_functions": [
    "f",
    "g"
  ],
  "global_bytes": 0,
  "constant_bytes": 0,
  "input_bytes": 0,
  "output_bytes": 0,
  "inputs": 0
}
)");
}

}  // namespace
}  // namespace devlink::testing
