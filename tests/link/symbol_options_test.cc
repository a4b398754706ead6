// SPDX-License-Identifier: Apache-2.0
//
// nvlink has no --wrap: but of inputs whose references were renamed it makes what devlink makes of
// the inputs as they are.
#include <string>
#include <string_view>
#include <vector>

#include "devlink-diff/cubin_diff.h"
#include "devlink/devlink.h"
#include "model/redirect.h"
#include "random/link_pair.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

constexpr std::string_view kUnits[] = {
    ".extern .func (.param .b32 r) f(.param .b32 x);\n"
    ".visible .entry k(.param .u64 p)\n"
    "{ .reg .b64 a; .reg .b32 v; ld.param.u64 a, [p]; ld.global.b32 v, [a];\n"
    "  { .param .b32 r; .param .b32 x; st.param.b32 [x], v; call (r), f, (x);\n"
    "    ld.param.b32 v, [r]; } st.global.b32 [a], v; ret; }\n",
    ".visible .func (.param .b32 r) f(.param .b32 x)\n"
    "{ .reg .b32 v; ld.param.b32 v, [x]; mul.lo.s32 v, v, 7; st.param.b32 [r], v; ret; }\n",
    ".extern .func (.param .b32 r) __real_f(.param .b32 x);\n"
    ".visible .func (.param .b32 r) __wrap_f(.param .b32 x)\n"
    "{ .reg .b32 v; ld.param.b32 v, [x];\n"
    "  { .param .b32 s; .param .b32 y; st.param.b32 [y], v; call (s), __real_f, (y);\n"
    "    ld.param.b32 v, [s]; } add.s32 v, v, 1; st.param.b32 [r], v; ret; }\n"};

TEST_CASE("What is wrapped is what nvlink makes of renamed references", "[symbols]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  const std::string arch = GENERATE("sm_75", "sm_80", "sm_90", "sm_100", "sm_120");
  CAPTURE(arch);
  const TemporaryDirectory directory("devlink-symbols");
  std::vector<std::string> inputs;
  std::vector<std::string> renamed;
  internal::Redirections names;
  names.try_emplace("f", "__wrap_f");
  names.try_emplace("__real_f", "f");
  for (const std::string_view unit : kUnits) {
    const std::string stem = directory.File(Cat(inputs.size() + 1));
    REQUIRE(WriteText(stem + ".ptx",
                      Cat(".version 9.0\n.target ", arch, "\n.address_size 64\n", unit)));
    inputs.push_back(stem + ".cubin");
    REQUIRE(RunProcess({toolkit->ptxas, "-c", "-arch=" + arch, stem + ".ptx", "-o", inputs.back()})
                .ok());
    const auto module = internal::Module::Load(ReadBytes(inputs.back()).value());
    REQUIRE(module.ok());
    const auto changed = internal::RedirectReferences(*module, names);
    REQUIRE(changed.ok());
    const auto bytes = (*changed)->bytes();
    renamed.push_back(stem + ".renamed.cubin");
    REQUIRE(WriteBytes(renamed.back(), {bytes.begin(), bytes.end()}));
  }
  std::vector<std::string> command = {toolkit->nvlink, "-arch=" + arch};
  command.insert(command.end(), renamed.begin(), renamed.end());
  command.insert(command.end(), {"-o", directory.File("out.cubin")});
  REQUIRE(RunProcess(command).ok());
  LinkOptions options;
  options.target = *Arch::Parse(arch);
  options.wrapped_symbols = {"f"};
  options.recorded_options = "-arch " + arch + " ";
  const LinkOutcome outcome = LinkWithLibrary(options, inputs);
  options.wrapped_symbols.clear();
  CHECK(LinkWithLibrary(options, inputs).cubin != outcome.cubin);
  REQUIRE(outcome.ok);
  CHECK(diff::ExplainDifference(ReadBytes(directory.File("out.cubin")).value(), outcome.cubin) ==
        "");
}

}  // namespace
}  // namespace devlink::testing
