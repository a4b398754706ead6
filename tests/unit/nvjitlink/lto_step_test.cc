// SPDX-License-Identifier: Apache-2.0
#include "nvjitlink/lto_step.h"

#include <string>
#include <vector>

#include "nvjitlink/assembly.h"
#include "support/catch.h"

namespace devlink::nvjitlink {
namespace {

struct StepFixture {
  Toolchain no_tools;
  Tools tools{Environment::Default(), no_tools, {}};
  Options options{.target = {90, 0}, .assembler_target = "sm_90", .lto = true};
  Logs logs;
};

TEST_CASE("nvJitLink: nothing to compile is an error of libNVVM's", "[nvjitlink]") {
  StepFixture test;
  const LtoMade made = CompileLto({}, LtoScope::kPartial, test.options, test.tools, test.logs);
  CHECK(made.result == Result::kNvvmCompile);
  CHECK_FALSE(made.has_ptx);
  CHECK(test.logs.error() == "ERROR in nvvmCompileProgram: NVVM_ERROR_NO_MODULE_IN_PROGRAM\n");
}

TEST_CASE("nvJitLink: where a compiler is missing the log says what to do", "[nvjitlink]") {
  StepFixture test;
  const std::vector<LtoInput> inputs = {{.name = "a", .bytes = {1, 2, 3}}};
  CHECK(CompileLto(inputs, LtoScope::kWhole, test.options, test.tools, test.logs).result ==
        Result::kNvvmCompile);
  CHECK(test.logs.error().find("libnvvm.so") != std::string::npos);
  Logs logs;
  std::vector<std::uint8_t> cubin;
  CHECK(AssemblePtx("a.ptx", ".version 9.0", false, test.options, test.tools, cubin, logs) ==
        Result::kPtxCompile);
  CHECK(logs.error().starts_with("there is no assembler for PTX"));
  CHECK(logs.error().ends_with("ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (a.ptx)\n"));
}

TEST_CASE("nvJitLink: protected LTO IR cannot be linked to LTO IR", "[nvjitlink]") {
  StepFixture test;
  const std::vector<LtoInput> inputs = {{.name = "a", .bytes = {1}, .is_protected = true}};
  std::string ltoir;
  CHECK(LinkLtoIr(inputs, test.options, test.tools, ltoir, test.logs) == Result::kInvalidInput);
  CHECK(ltoir.empty());
  CHECK(test.logs.error().find("--compress=false") != std::string::npos);
}

}  // namespace
}  // namespace devlink::nvjitlink
