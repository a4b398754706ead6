// SPDX-License-Identifier: Apache-2.0
//
// Compiler constants of a kernel with several weak copies lie in one bank, where nvlink makes two,
// with the constants of its callees in the wrong one (docs/compatibility.md).
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devlink-diff/cubin_view.h"
#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using diff::ViewCubin;
using diff::ViewSection;
using Bytes = std::vector<std::uint8_t>;

// Many registers: a copy with fewer takes the place of one with more.
std::string Registers(int count) {
  std::string out = Cat(" { .reg .b32 t<", count, ">;\n");
  for (int i = 0; i < count; ++i)
    Append(out, "  ld.volatile.global.u32 t", i, ", [a+", 4 * i, "];");
  out += "\n  bar.sync 0;\n";
  for (int i = 0; i < count; ++i) Append(out, "  st.volatile.global.u32 [a], t", i, ";");
  return out + " }\n";
}

// A jump table, which lies in bank 2. `first` makes it another one.
std::string Table(std::size_t first) {
  constexpr std::string_view kCases[] = {"mul.lo.s32 x, x, 7", "shl.b32 x, x, 3",
                                         "xor.b32 x, x, 77",   "popc.b32 x, x",
                                         "brev.b32 x, x",      "clz.b32 x, x"};
  std::string out =
      " rem.u32 y, x, 6;\nT: .branchtargets T0, T1, T2, T3, T4, T5;\n brx.idx y, T;\n";
  for (std::size_t i = 0; i < 6; ++i) {
    Append(out, "T", i, ": ", kCases[(i + first) % 6], "; bra TE;\n");
  }
  return out + "TE:\n";
}

std::string Kernel(const std::string& body) {
  return Cat(".extern .func (.param .b32 r) f (.param .b32 a);\n.weak .entry k(.param .u64 p)\n{\n",
             " .reg .b32 x, y; .reg .b64 a; ld.param.u64 a, [p]; mov.u32 x, %tid.x;\n", body,
             " st.global.u32 [a], x; ret;\n}\n");
}

constexpr std::string_view kCall =
    " { .param .b32 i; st.param.b32 [i], x; .param .b32 o; call (o), f, (i);"
    " ld.param.b32 x, [o]; }\n";

std::vector<Bytes> Banks(const Bytes& cubin, std::string_view name) {
  std::vector<Bytes> out;
  for (const ViewSection& section : ViewCubin(cubin).sections) {
    if (section.name == name) out.emplace_back(section.data.begin(), section.data.end());
  }
  return out;
}

bool Contains(const Bytes& bytes, const Bytes& part) {
  return std::search(bytes.begin(), bytes.end(), part.begin(), part.end()) != bytes.end();
}

TEST_CASE("a kernel has one bank of compiler constants, its own first", "[link]") {
  const auto toolkit = FindToolkit();
  if (!toolkit) DEVLINK_SKIP("no CUDA toolkit");
  const std::vector<std::string> sources = {
      Kernel(Registers(40)), Kernel(Registers(40) + Table(0)),
      Kernel(Table(1) + std::string(kCall)), Kernel(Registers(40) + Table(2)),
      Cat(".visible .func (.param .b32 r) f (.param .b32 a)\n{\n .reg .b32 x, y;"
          " ld.param.b32 x, [a];\n",
          Table(3), " st.param.b32 [r], x; ret;\n}\n")};
  for (const char* arch : {"sm_75", "sm_80", "sm_90"}) {
    INFO(arch);
    const TemporaryDirectory directory("devlink-constants");
    LinkOptions options;
    options.target = Arch::Parse(arch).value_or(Arch{});
    auto session = LinkSession::Create(options);
    REQUIRE(session.ok());
    std::vector<Bytes> inputs;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::string ptx = directory.File(Cat("f", i, ".ptx"));
      const std::string cubin = directory.File(Cat("f", i, ".cubin"));
      WriteText(ptx, Cat(".version 9.0\n.target ", arch, "\n.address_size 64\n", sources[i]));
      const ProcessResult made =
          RunProcess({toolkit->ptxas, "-c", "-arch", arch, ptx, "-o", cubin});
      INFO(made.err);
      REQUIRE(made.ok());
      inputs.push_back(ReadBytes(cubin).value_or(Bytes{}));
      REQUIRE(session->AddFile(cubin).ok());
    }
    const auto result = session->Link();
    REQUIRE(result.ok());

    const std::vector<Bytes> banks = Banks(result.cubin, ".nv.constant2.k");
    const std::vector<Bytes> own = Banks(inputs[2], ".nv.constant2.k");
    const std::vector<Bytes> callee = Banks(inputs[4], ".nv.constant2.f");
    REQUIRE(banks.size() == 1);
    REQUIRE(own.size() == 1);
    REQUIRE(callee.size() == 1);
    REQUIRE(banks[0].size() >= own[0].size() + callee[0].size());
    CHECK(std::equal(own[0].begin(), own[0].end(), banks[0].begin()));
    CHECK(Contains(banks[0], callee[0]));
  }
}

}  // namespace
}  // namespace devlink::testing
