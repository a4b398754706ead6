// SPDX-License-Identifier: Apache-2.0
//
// devlink-bench-library: reading and linking within one process, as a JIT does it. The complexity
// that Google Benchmark fits at the end tells whether cost stays linear in the number of modules.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "devlink/devlink.h"
#include "modules.h"
#include "programs.h"

namespace devlink::bench {

namespace {

namespace fs = std::filesystem;

constexpr char kTarget[] = "sm_80";

using File = std::vector<std::uint8_t>;

// The first `count` modules of the flat family, read once.
const std::vector<File>& Files(int count) {
  static std::map<int, std::vector<File>> known;
  std::vector<File>& files = known[count];
  if (!files.empty()) return files;
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const ProgramClass program{.name = "flat", .family = "flat", .modules = count};
  const CompiledProgram compiled =
      CompileProgram(program, kTarget, here.parent_path() / "bench-modules");
  for (const std::string& name : compiled.files) {
    std::ifstream file(compiled.directory / name, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return files;
}

std::shared_ptr<ModulePool> FilledPool(const std::vector<File>& files,
                                       std::vector<ModuleRef>& modules) {
  auto pool = std::make_shared<ModulePool>();
  for (const File& file : files) {
    auto module = pool->AddCubin(std::span<const std::uint8_t>(file));
    if (module.ok()) modules.push_back(*std::move(module));
  }
  return pool;
}

void ReadModules(benchmark::State& state) {
  const auto& files = Files(static_cast<int>(state.range(0)));
  while (state.KeepRunning()) {
    std::vector<ModuleRef> modules;
    benchmark::DoNotOptimize(FilledPool(files, modules));
  }
  state.SetComplexityN(state.range(0));
}

void LinkModules(benchmark::State& state) {
  const auto& files = Files(static_cast<int>(state.range(0)));
  std::vector<ModuleRef> modules;
  const std::shared_ptr<ModulePool> pool = FilledPool(files, modules);
  while (state.KeepRunning()) {
    auto session = LinkSession::Create({.target = *Arch::Parse(kTarget)}, {.pool = pool});
    for (const ModuleRef& module : modules) {
      if (!session->AddModule("module", module).ok()) state.SkipWithError("cannot add a module");
    }
    auto result = session->Link();
    if (!result.ok()) {
      state.SkipWithError("cannot link");
      break;
    }
    benchmark::DoNotOptimize(result.cubin.data());
  }
  state.SetComplexityN(state.range(0));
}

BENCHMARK(ReadModules)
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK(LinkModules)
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace

}  // namespace devlink::bench

BENCHMARK_MAIN();
