// SPDX-License-Identifier: Apache-2.0
//
// Link-time optimization in parts (LtoOptions::partitions), with the tools that do it.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "devlink/experimental/compile_cache.h"
#include "devlink/experimental/nvvm_program.h"
#include "devlink/link_session.h"
#include "support/catch.h"
#include "support/lto_tools.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Strings = std::vector<std::string>;

constexpr int kModules = 6;

// In each module a kernel that calls a function of the next one, the last of the first; a function,
// a variable, and a weak function that all have, which the function calls.
Bytes ModuleText(int number, int factor) {
  const std::string next = std::to_string((number + 1) % kModules);
  const std::string own = std::to_string(number);
  Bytes text = NvvmModule(80, Cat("k", own), Cat("f", next), "");
  const std::string rest = Substitute(
      "@v$0 = addrspace(1) global i32 $1, align 4\n"
      "define weak_odr i32 @twice(i32 %x) noinline {\n  %r = shl i32 %x, 1\n  ret i32 %r\n}\n"
      "define i32 @f$0(i32 %x) noinline {\n  %t = call i32 @twice(i32 %x)\n"
      "  %v = load i32, i32 addrspace(1)* @v$0\n  %s = add i32 %t, %v\n"
      "  %r = mul i32 %s, $1\n  ret i32 %r\n}\n",
      own, std::to_string(factor));
  text.insert(text.end(), rest.begin(), rest.end());
  return text;
}

class Program {
 public:
  // Empty where the tools are not there.
  static std::unique_ptr<Program> Make() {
    const auto toolkit = FindToolkit();
    if (!toolkit.has_value()) return nullptr;
    auto library = NvvmLibrary::Load(NvvmPlace());
    if (!library.ok()) return nullptr;
    return std::make_unique<Program>(*std::move(library), toolkit->ptxas);
  }

  Program(NvvmLibrary library, std::string ptxas)
      : library_(std::move(library)), ptxas_(std::move(ptxas)) {
    for (int i = 0; i < kModules; ++i) Change(i, 3);
  }

  void Change(int module, int factor) {
    auto ir = MakeLtoIr(library_, ModuleText(module, factor), {.number = 80});
    INFO(ir.status().ToString());
    REQUIRE(ir.ok());
    modules_.resize(kModules);
    modules_[static_cast<std::size_t>(module)] = *std::move(ir);
  }

  [[nodiscard]] std::shared_ptr<Toolchain> MakeToolchain(std::shared_ptr<CacheStore> cache) const {
    ToolchainOptions options;
    options.ptx.ptxas_path = ptxas_;
    options.ptx.temporary_directory = directory_.path().string();
    options.lto.nvvm_path = NvvmPlace();
    options.cache = std::move(cache);
    return std::make_shared<Toolchain>(std::move(options));
  }

  [[nodiscard]] LinkOutcome Link(LinkOptions options, const SessionContext& context) const {
    options.target = *Arch::Parse("sm_80");
    options.lto.enabled = true;
    options.details = true;
    auto session = LinkSession::Create(options, context);
    if (!session.ok()) return {.status = session.status()};
    for (std::size_t i = 0; i < modules_.size(); ++i) {
      auto added = session->AddInput(Cat("m", std::to_string(i), ".ltoir"), Bytes(modules_[i]));
      if (!added.ok()) return {.status = added};
    }
    return session->Link();
  }

 private:
  NvvmLibrary library_;
  std::string ptxas_;
  TemporaryDirectory directory_;
  std::vector<Bytes> modules_;
};

Strings KernelsOf(const LinkOutcome& outcome) {
  Strings out;
  for (const KernelReport& kernel : outcome.report.kernels) out.push_back(kernel.name);
  std::sort(out.begin(), out.end());
  return out;
}

Strings VariablesOf(const LinkOutcome& outcome) {
  Strings out;
  for (const VariableDetails& variable : outcome.report.details->variables) {
    if (variable.memory == VariableMemory::kGlobal) out.push_back(variable.name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST_CASE("Parts make the program that one compilation makes", "[lto][toolkit]") {
  const auto program = Program::Make();
  if (program == nullptr) DEVLINK_SKIP("no CUDA toolkit with libNVVM");
  const SessionContext context{.toolchain = program->MakeToolchain(nullptr)};
  const LinkOutcome whole = program->Link({}, context);
  INFO(whole.status.ToString());
  REQUIRE(whole.ok());
  REQUIRE(KernelsOf(whole).size() == kModules);
  // Nobody but the host could change these, of which there is none here: they become numbers.
  REQUIRE(VariablesOf(whole).empty());
  for (const int partitions : {2, 3, kModules, 100}) {
    CAPTURE(partitions);
    Bytes first;
    for (const unsigned threads : {1U, 2U, 8U}) {
      CAPTURE(threads);
      LinkOptions options;
      options.lto.partitions = partitions;
      options.parallel.threads = threads;
      const LinkOutcome parts = program->Link(options, context);
      INFO(parts.status.ToString());
      REQUIRE(parts.ok());
      CHECK(parts.diagnostics.empty());
      CHECK_FALSE(parts.is_whole_program);
      CHECK(KernelsOf(parts) == KernelsOf(whole));
      CHECK(VariablesOf(parts) == Strings{"v0", "v1", "v2", "v3", "v4", "v5"});
      CHECK(parts.report.inputs == static_cast<std::uint32_t>(std::min(partitions, kModules)));
      for (const InputDetails& input : parts.report.details->inputs) {
        CHECK(input.origin == InputOrigin::kCompiled);
      }
      CHECK(parts.report.details->lto_inputs.size() == kModules);
      if (threads == 1) first = parts.cubin;
      CHECK(parts.cubin == first);
    }
  }
}

TEST_CASE("None and one part are what a link without the option is", "[lto][toolkit]") {
  const auto program = Program::Make();
  if (program == nullptr) DEVLINK_SKIP("no CUDA toolkit with libNVVM");
  const SessionContext context{.toolchain = program->MakeToolchain(nullptr)};
  const LinkOutcome whole = program->Link({}, context);
  REQUIRE(whole.ok());
  LinkOptions options;
  options.lto.partitions = 1;
  CHECK(program->Link(options, context).cubin == whole.cubin);
}

TEST_CASE("Parts of a link with -r are linked in the next one", "[lto][toolkit]") {
  const auto program = Program::Make();
  if (program == nullptr) DEVLINK_SKIP("no CUDA toolkit with libNVVM");
  const SessionContext context{.toolchain = program->MakeToolchain(nullptr)};
  LinkOptions options;
  options.relocatable = true;
  options.lto.partitions = 3;
  LinkOutcome relocatable = program->Link(options, context);
  INFO(relocatable.status.ToString());
  REQUIRE(relocatable.ok());
  LinkOptions last;
  last.target = *Arch::Parse("sm_80");
  auto session = LinkSession::Create(last, context);
  REQUIRE(session.ok());
  REQUIRE(session->AddInput("r.cubin", std::move(relocatable.cubin)).ok());
  const LinkOutcome linked = session->Link();
  INFO(linked.status.ToString());
  REQUIRE(linked.ok());
  CHECK(KernelsOf(linked).size() == kModules);
}

TEST_CASE("One changed module compiles one part again", "[lto][cache][toolkit]") {
  const auto program = Program::Make();
  if (program == nullptr) DEVLINK_SKIP("no CUDA toolkit with libNVVM");
  const std::shared_ptr<CacheStore> store = CreateMemoryCache();
  LinkOptions options;
  options.lto.partitions = 3;
  const auto link = [&](std::uint64_t misses) {
    const SessionContext context{.toolchain = program->MakeToolchain(store)};
    LinkOutcome outcome = program->Link(options, context);
    INFO(outcome.status.ToString());
    REQUIRE(outcome.ok());
    // The IR of each part, and the PTX that it becomes.
    const CacheUse use = context.toolchain->cache_use();
    CHECK(use.misses == misses);
    CHECK(use.hits == 2 * 3 - misses);
    const SessionContext anew{.toolchain = program->MakeToolchain(nullptr)};
    CHECK(program->Link(options, anew).cubin == outcome.cubin);
    return std::move(outcome.cubin);
  };
  const Bytes before = link(6);
  link(0);
  program->Change(2, 5);
  CHECK(link(2) != before);
  program->Change(2, 3);
  CHECK(link(0) == before);
}

TEST_CASE("A part that does not compile fails the link, whichever is compiled first",
          "[lto][toolkit]") {
  const auto program = Program::Make();
  if (program == nullptr) DEVLINK_SKIP("no CUDA toolkit with libNVVM");
  const SessionContext context{.toolchain = program->MakeToolchain(nullptr)};
  Strings said;
  for (const unsigned threads : {1U, 2U, 8U}) {
    LinkOptions options;
    options.lto.partitions = kModules;
    options.lto.xnvvm = {"-no-such-word"};
    options.parallel.threads = threads;
    const LinkOutcome outcome = program->Link(options, context);
    CHECK_FALSE(outcome.ok());
    std::string text;
    for (const Diagnostic& diagnostic : outcome.diagnostics) {
      text += RenderDiagnostic(diagnostic, "devlink") + "\n";
    }
    said.push_back(text);
  }
  CHECK(said[0].find("elfLink JIT compile failed") != std::string::npos);
  CHECK(said[1] == said[0]);
  CHECK(said[2] == said[0]);
}

}  // namespace
}  // namespace devlink::testing
