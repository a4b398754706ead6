// SPDX-License-Identifier: Apache-2.0
//
// The cache with the tools that it is for.
#include <filesystem>
#include <string>
#include <vector>

#include "devlink/experimental/caching_lto_compiler.h"
#include "devlink/experimental/caching_ptx_assembler.h"
#include "devlink/experimental/nvvm_program.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

std::string KernelText(int number) {
  return ".version 9.0\n.target sm_75\n.address_size 64\n"
         ".visible .entry k" +
         std::to_string(number) +
         "(.param .u64 p) {\n .reg .u64 %rd<2>; .reg .u32 %r<3>;\n ld.param.u64 %rd1, [p];\n"
         " mov.u32 %r1, " +
         std::to_string(number) +
         ";\n st.global.u32 [%rd1], %r1;\n st.global.u32 [%rd1+4], %r2;\n ret;\n}\n";
}

std::shared_ptr<CacheStore> OpenStore(const TemporaryDirectory& directory) {
  auto store = CreateDirectoryCache({.path = directory.File("cache")});
  REQUIRE(store.ok());
  return *std::move(store);
}

TEST_CASE("Assembled PTX comes from the cache as it came from the tool", "[cache][toolkit]") {
  const auto toolkit = FindToolkit();
  if (!toolkit.has_value()) DEVLINK_SKIP("no CUDA toolkit");
  const TemporaryDirectory directory;
  PtxBackendOptions options;
  options.ptxas_path = toolkit->ptxas;
  options.temporary_directory = directory.path().string();
  std::vector<std::string> texts;
  for (int i = 0; i < 6; ++i) texts.push_back(KernelText(i));
  const auto run = [&](std::uint64_t hits) {
    // As another link would: everything anew but the directory.
    auto caching = CreateCachingPtxAssembler(options, OpenStore(directory));
    INFO(caching.status().ToString());
    REQUIRE(caching.ok());
    std::vector<PtxJob> jobs;
    for (const std::string& text : texts) {
      jobs.push_back({.name = "x.ptx",
                      .text = text,
                      .arguments = {"-arch=sm_75", "-m64", "-c", "-maxrregcount=300"},
                      .report_usage = true});
    }
    const std::vector<PtxResult> results = AssembleAll(**caching, jobs);
    const CacheUse use = (*caching)->cache_use();
    CHECK(use.hits == hits);
    CHECK(use.misses == texts.size() - hits);
    CHECK(use.problems.empty());
    // The version is known once the tool was asked for it.
    CHECK((*caching)->version().empty() == (hits == texts.size()));

    auto plain = CreatePtxAssembler(options);
    REQUIRE(plain.ok());
    const std::vector<PtxResult> expected = AssembleAll(**plain, jobs);
    REQUIRE(results.size() == expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      REQUIRE(results[i].status.ok());
      CHECK(results[i].cubin == expected[i].cubin);
      CHECK(results[i].functions == expected[i].functions);
      REQUIRE(results[i].diagnostics.size() == expected[i].diagnostics.size());
      CHECK_FALSE(results[i].diagnostics.empty());  // 300 registers are too many
      for (std::size_t d = 0; d < expected[i].diagnostics.size(); ++d) {
        CHECK(RenderDiagnostic(results[i].diagnostics[d], "t") ==
              RenderDiagnostic(expected[i].diagnostics[d], "t"));
      }
    }
  };
  run(0);
  run(6);
  texts[2] = KernelText(77);
  run(5);
  run(6);
}

constexpr std::string_view kModule = R"(
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @k(i32* %p) {
  store i32 NUMBER, i32* %p
  ret void
}
@llvm.used = appending global [1 x i8*] [i8* bitcast (void (i32*)* @k to i8*)], section "llvm.metadata"
!nvvmir.version = !{!0}
!0 = !{i32 2, i32 0}
!nvvm.annotations = !{!1}
!1 = !{void (i32*)* @k, !"kernel", i32 1}
)";

TEST_CASE("Compiled LTO IR comes from the cache as it came from libNVVM", "[cache][toolkit]") {
  const auto toolkit = FindToolkit();
  if (!toolkit.has_value()) DEVLINK_SKIP("no CUDA toolkit");
  LtoBackendOptions options;
  options.nvvm_path = fs::canonical(toolkit->nvlink).parent_path().parent_path().string();
  const auto library = NvvmLibrary::Load(options.nvvm_path);
  if (!library.ok()) DEVLINK_SKIP("no libNVVM");
  const TemporaryDirectory directory;
  const auto compile = [&](const std::string& number, std::uint64_t hits) {
    std::string text(kModule);
    text.replace(text.find("NUMBER"), 6, number);
    const auto ir =
        MakeLtoIr(*library, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                  {.number = 90});
    INFO(ir.status().ToString());
    REQUIRE(ir.ok());
    const LtoJob job{.target = {.number = 90},
                     .modules = {{.name = "m.ltoir", .bytes = *ir}},
                     .arguments = {"-arch=compute_90", "-link-lto", "-has-global-host-info"}};
    auto caching = CreateCachingLtoCompiler(options, OpenStore(directory));
    REQUIRE(caching.ok());
    const LtoOutput output = (*caching)->Compile(job);
    CHECK((*caching)->cache_use().hits == hits);
    CHECK((*caching)->version().empty() == (hits == 1));
    auto plain = CreateLtoCompiler(options);
    REQUIRE(plain.ok());
    const LtoOutput expected = (*plain)->Compile(job);
    INFO(output.status.ToString());
    REQUIRE(output.status.ok());
    CHECK(output.pieces == expected.pieces);
    CHECK(output.whole_program == expected.whole_program);
    CHECK(output.backend_name == expected.backend_name);
    CHECK(output.diagnostics.size() == expected.diagnostics.size());
    CHECK(output.pieces.at(0).find(".entry k") != std::string::npos);
  };
  compile("1", 0);
  compile("1", 1);
  compile("2", 0);
  compile("1", 1);
}

}  // namespace
}  // namespace devlink::testing
