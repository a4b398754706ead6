// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/compilation_provider.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/text_bytes.h"
#include "devlink/link_session.h"
#include "format/elf_cuda.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::string_view kCaller =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.reg .b32 %out) callee(.reg .b32 %in);\n"
    ".visible .entry kernel(.param .u64 p) {\n"
    "  .reg .b64 %p; .reg .b32 %v;\n"
    "  ld.param.u64 %p, [p]; ld.global.u32 %v, [%p];\n"
    "  call (%v), callee, (%v);\n"
    "  st.global.u32 [%p], %v; ret;\n}\n";
constexpr std::string_view kCallee =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .func (.reg .b32 %out) callee(.reg .b32 %in) { add.u32 %out, %in, 7; ret; }\n";
constexpr std::string_view kAlone =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 p) {\n"
    "  .reg .b64 %p; ld.param.u64 %p, [p]; st.global.u64 [%p], %p; ret;\n}\n";

// A kernel with `count` values alive at a time.
std::string Wide(int count) {
  std::string out =
      Cat(".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry wide(.param .u64 p) {\n"
          "  .reg .b64 %p; .reg .f32 %v<",
          count, ">;\n  ld.param.u64 %p, [p];\n");
  for (int i = 0; i < count; ++i) out += Cat("  ld.volatile.global.f32 %v", i, ", [%p];\n");
  for (int i = 0; i < count; ++i) out += Cat("  st.volatile.global.f32 [%p], %v", i, ";\n");
  return out + "  ret;\n}\n";
}

// A matrix instruction whose operands take more registers than a thread of 1024 can have.
std::string Greedy() {
  std::string out =
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry greedy(.param .u64 p) .maxntid 1024, 1, 1 {\n"
      "  .reg .b64 %p; .reg .b64 %a; .reg .f32 %v<128>; .reg .pred %on;\n"
      "  ld.param.u64 %p, [p]; ld.global.u64 %a, [%p]; setp.ne.u64 %on, %a, 0;\n";
  std::string all;
  for (int i = 0; i < 128; ++i) {
    out += Cat("  ld.global.f32 %v", i, ", [%p];\n");
    all += Cat(i == 0 ? "" : ",", "%v", i);
  }
  out += Cat("  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {",
             all,
             "}, %a, %a, %on, 1, 1, 0, 0;\n  wgmma.commit_group.sync.aligned;\n"
             "  wgmma.wait_group.sync.aligned 0;\n");
  for (int i = 0; i < 128; ++i) out += Cat("  st.global.f32 [%p], %v", i, ";\n");
  return out + "  ret;\n}\n";
}

CompilationInput Text(const std::string& name, std::string_view ptx) {
  return {.name = name, .bytes = base::BytesOf(ptx)};
}

std::string Content(const Bytes& cubin) { return {cubin.begin(), cubin.end()}; }

std::uint16_t TypeOf(const Bytes& cubin) {
  format::Ehdr header = {};
  if (cubin.size() >= sizeof header) std::memcpy(&header, cubin.data(), sizeof header);
  return header.type;
}

const Arch kTarget{90};

// The tools of this machine; null where there are none.
std::shared_ptr<Toolchain> Tools() {
  const auto toolkit = FindToolkit();
  if (!toolkit) return nullptr;
  ToolchainOptions options;
  options.ptx.nvptxcompiler_path = DEVLINK_PTXCOMPILER;
  options.ptx.ptxas_path = toolkit->ptxas;
  options.ptx.temporary_directory = "/tmp";
  return std::make_shared<Toolchain>(std::move(options));
}

std::unique_ptr<CompilationProvider> ProviderOf(std::shared_ptr<Toolchain> tools) {
  return CreateCompilationProvider({.toolchain = std::move(tools)});
}

TEST_CASE("Without tools a provider links cubins", "[provider]") {
  const auto provider = ProviderOf(nullptr);
  const Bytes a =
      BuildCubin({.sm = 90, .functions = {{.name = "k", .calls = {"f"}, .kernel = true}}});
  const Bytes b = BuildCubin({.sm = 90, .functions = {{.name = "f"}}});
  const std::vector<CompilationInput> inputs = {{.name = "a", .bytes = a},
                                                {.name = "b", .bytes = b}};
  const CompilationResult linked = provider->CompileAndLink(kTarget, inputs, {});
  REQUIRE(linked.ok());
  CHECK(TypeOf(linked.cubin) == format::kTypeExec);
  auto session = LinkSession::Create({.target = kTarget});
  REQUIRE(session.ok());
  REQUIRE(session->AddCubin("a", std::span<const std::uint8_t>(a)).ok());
  REQUIRE(session->AddCubin("b", std::span<const std::uint8_t>(b)).ok());
  CHECK(linked.cubin == session->Link().cubin);

  CHECK_FALSE(provider->Capabilities().compiles);
  CHECK(absl::IsNotFound(provider->Compile(kTarget, kAlone, {}).status));
  CHECK(absl::IsNotFound(provider->LatestPtxIsa().status()));
  const CompilationInput text = Text("t", kAlone);
  CHECK(absl::IsNotFound(provider->CompileAndLink(kTarget, {&text, 1}, {}).status));
  CHECK(absl::IsNotFound(
      provider->KeyOf(CompilationTask::kCompile, kTarget, {&text, 1}, {}).status()));
  CHECK(provider->KeyOf(CompilationTask::kCompileAndLink, kTarget, inputs, {}).ok());
}

TEST_CASE("No inputs give no bytes", "[provider]") {
  const CompilationResult linked = ProviderOf(nullptr)->CompileAndLink(kTarget, {}, {});
  CHECK(linked.ok());
  CHECK(linked.cubin.empty());
  CHECK(linked.diagnostics.empty());
}

TEST_CASE("What cannot be linked has a status, messages and no bytes", "[provider]") {
  const auto provider = ProviderOf(nullptr);
  const Bytes undefined =
      BuildCubin({.sm = 90, .functions = {{.name = "k", .calls = {"f"}, .kernel = true}}});
  const Bytes other = BuildCubin({.sm = 80, .functions = {{.name = "f"}}});
  const Bytes noise(300, 0x5a);
  const Bytes nothing;
  for (const Bytes* second : {&undefined, &other, &noise, &nothing}) {
    std::vector<CompilationInput> inputs = {{.name = "a", .bytes = undefined}};
    if (second != &undefined) inputs.push_back({.name = "b", .bytes = *second});
    const CompilationResult linked = provider->CompileAndLink(kTarget, inputs, {});
    CHECK_FALSE(linked.ok());
    CHECK(linked.cubin.empty());
    CHECK_FALSE(linked.status.message().empty());
    if (second == &noise || second == &nothing) {
      INFO(linked.status.ToString());
      CHECK(absl::IsInvalidArgument(linked.status));
      continue;
    }
    CHECK_FALSE(linked.diagnostics.empty());
    if (second == &other) CHECK(absl::IsFailedPrecondition(linked.status));
  }
}

TEST_CASE("PTX becomes programs, cubins and links of both", "[provider]") {
  const auto tools = Tools();
  if (tools == nullptr) DEVLINK_SKIP("no CUDA toolkit");
  const auto provider = ProviderOf(tools);
  CHECK(provider->Capabilities().compiles);
  CHECK_FALSE(provider->Capabilities().assembler_version.empty());
  CHECK(*provider->LatestPtxIsa() >= PtxIsaVersion{9, 0});
  CHECK(*provider->LatestPtxIsa() < PtxIsaVersion{99, 9});

  const CompilationResult whole = provider->Compile(kTarget, kAlone, {});
  REQUIRE(whole.ok());
  CHECK(TypeOf(whole.cubin) == format::kTypeExec);
  REQUIRE(whole.functions.size() == 1);
  CHECK(whole.functions[0].name == "kernel");
  CHECK(whole.functions[0].registers > 0);

  const CompilationResult part = provider->CompileToRelocatable(kTarget, kCallee, {});
  REQUIRE(part.ok());
  CHECK(TypeOf(part.cubin) == format::kTypeRel);
  const std::vector<CompilationInput> mixed = {Text("caller", kCaller),
                                               {.name = "callee", .bytes = part.cubin}};
  const std::vector<CompilationInput> texts = {Text("caller", kCaller), Text("callee", kCallee)};
  const CompilationResult linked = provider->CompileAndLink(kTarget, texts, {});
  REQUIRE(linked.ok());
  CHECK(linked.functions.size() == 2);
  CHECK(linked.cubin == provider->CompileAndLink(kTarget, mixed, {}).cubin);

  // As a session that assembles the texts itself.
  auto session = LinkSession::Create({.target = kTarget}, {.toolchain = tools});
  REQUIRE(session.ok());
  for (const CompilationInput& text : texts) {
    REQUIRE(session->AddInput(text.name, {text.bytes.begin(), text.bytes.end()}).ok());
  }
  CHECK(linked.cubin == session->Link().cubin);

  // Each option reaches the assembler.
  std::set<std::string> different = {Content(whole.cubin)};
  for (const CompilationOptions& options :
       {CompilationOptions{.line_info = true}, CompilationOptions{.debug_info = true},
        CompilationOptions{.assembler_options = {"-O1"}}, CompilationOptions{.optimize = false}}) {
    const CompilationResult other = provider->Compile(kTarget, kAlone, options);
    REQUIRE(other.ok());
    CHECK(different.insert(Content(other.cubin)).second);
  }
}

TEST_CASE("Each way to fail has a status of its own", "[provider]") {
  const auto tools = Tools();
  if (tools == nullptr) DEVLINK_SKIP("no CUDA toolkit");
  const auto provider = ProviderOf(tools);
  const auto code = [&](std::string_view ptx, const CompilationOptions& options = {},
                        Arch target = kTarget) {
    const CompilationResult result = provider->Compile(target, ptx, options);
    CHECK(result.cubin.empty() == !result.ok());
    return result.status.code();
  };
  std::string newer(kAlone);
  newer.replace(newer.find("8.0"), 3, "98.7");
  CHECK(code(newer) == absl::StatusCode::kUnimplemented);
  std::string later(kAlone);
  later.replace(later.find("sm_75"), 5, "sm_199");
  CHECK(code(later) == absl::StatusCode::kUnimplemented);
  CHECK(code("nothing") == absl::StatusCode::kInvalidArgument);
  CHECK(code("") == absl::StatusCode::kInvalidArgument);
  std::string wrong(kAlone);
  wrong.replace(wrong.find("st.global"), 9, "st.nowher");
  CHECK(code(wrong) == absl::StatusCode::kInvalidArgument);
  CHECK(code(kAlone, {.assembler_options = {"--no-such-option"}}) ==
        absl::StatusCode::kInvalidArgument);
  const CompilationResult unknown =
      provider->Compile(kTarget, kAlone, {.assembler_options = {"--no-such-option"}});
  REQUIRE_FALSE(unknown.diagnostics.empty());
  CHECK(unknown.diagnostics[0].text == "ptxas fatal   : Unknown option '-no-such-option'");

  for (const char* word : {"", "-o", "-o=x", "--output-file=x", "-arch=sm_80", "--gpu-name"}) {
    CAPTURE(word);
    CHECK(code(kAlone, {.assembler_options = {word}}) == absl::StatusCode::kInvalidArgument);
  }
  CHECK(code(Greedy(), {}, *Arch::Parse("sm_90a")) == absl::StatusCode::kResourceExhausted);
  const std::string wide = Wide(100);
  CHECK(code(wide, {.cancel_if_spilled = true}) == absl::StatusCode::kOk);
  CHECK(code(wide, {.max_registers = 32}) == absl::StatusCode::kOk);
  CHECK(code(wide, {.max_registers = 32, .cancel_if_spilled = true}) ==
        absl::StatusCode::kCancelled);
  const CompilationResult spilled = provider->Compile(kTarget, wide, {.max_registers = 32});
  REQUIRE(spilled.functions.size() == 1);
  CHECK(spilled.functions[0].spill_store_bytes > 0);
}

TEST_CASE("A hundred threads get the same bytes", "[provider]") {
  const auto tools = Tools();
  if (tools == nullptr) DEVLINK_SKIP("no CUDA toolkit");
  const auto provider = ProviderOf(tools);
  const std::vector<CompilationInput> texts = {Text("caller", kCaller), Text("callee", kCallee)};
  std::vector<Bytes> linked(100);
  std::vector<Bytes> compiled(linked.size());
  std::atomic<int> keys = 0;
  const auto expected = provider->KeyOf(CompilationTask::kCompileAndLink, kTarget, texts, {});
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < linked.size(); ++i) {
      threads.emplace_back([&, i] {
        linked[i] = provider->CompileAndLink(kTarget, texts, {}).cubin;
        compiled[i] = provider->Compile(kTarget, kAlone, {}).cubin;
        const auto key = provider->KeyOf(CompilationTask::kCompileAndLink, kTarget, texts, {});
        if (key.ok() && *key == *expected) ++keys;
      });
    }
  }
  CHECK_FALSE(linked[0].empty());
  CHECK_FALSE(compiled[0].empty());
  CHECK(std::count(linked.begin(), linked.end(), linked[0]) == std::ssize(linked));
  CHECK(std::count(compiled.begin(), compiled.end(), compiled[0]) == std::ssize(compiled));
  CHECK(keys == static_cast<int>(linked.size()));
}

// A program that says what ptxas does of its version, and of PTX that is too new for it.
std::string PretendPtxas(const TemporaryDirectory& directory) {
  const std::string program = directory.File("ptxas");
  REQUIRE(
      WriteText(program,
                "#!/bin/sh\n"
                "if [ \"$1\" = --version ]; then echo 'release 13.0, V13.0.88'; exit 0; fi\n"
                "echo \"ptxas $1, line 1; fatal   : Unsupported .version 99.9; current version is"
                " '9.0'\" >&2\nexit 255\n"));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  return program;
}

TEST_CASE("A key tells apart what may give other bytes", "[provider]") {
  const auto provider = ProviderOf(nullptr);
  const Bytes a = BuildCubin({.sm = 90, .functions = {{.name = "a"}}});
  const Bytes b = BuildCubin({.sm = 90, .functions = {{.name = "b"}}});
  const std::vector<CompilationInput> both = {{.name = "a", .bytes = a}, {.name = "b", .bytes = b}};
  const std::vector<CompilationInput> renamed = {{.name = "x", .bytes = a},
                                                 {.name = "", .bytes = b}};
  const std::vector<CompilationInput> turned = {both[1], both[0]};
  const auto key =
      [&](const std::vector<CompilationInput>& inputs, const CompilationOptions& options,
          CompilationTask task = CompilationTask::kCompileAndLink, Arch target = kTarget) {
        const auto out = provider->KeyOf(task, target, inputs, options);
        REQUIRE(out.ok());
        return *out;
      };
  CHECK(key(both, {}) == key(renamed, {}));
  std::set<CacheKey> keys = {key(both, {}),
                             key(turned, {}),
                             key({both[0]}, {}),
                             key(both, {}, CompilationTask::kCompile),
                             key(both, {}, CompilationTask::kCompileToRelocatable),
                             key(both, {}, CompilationTask::kCompileAndLink, Arch{90, 'a'}),
                             key(both, {.optimize = false}),
                             key(both, {.line_info = true}),
                             key(both, {.debug_info = true}),
                             key(both, {.max_registers = 32}),
                             key(both, {.cancel_if_spilled = true}),
                             key(both, {.assembler_options = {"-O1"}})};
  CHECK(keys.size() == 12);
  // What else changes the output: the finalizer, and the assembler of PTX inside of others.
  const auto with = [&](ToolchainOptions places, const std::vector<CompilationInput>& inputs,
                        Arch target) {
    const auto other = ProviderOf(std::make_shared<Toolchain>(std::move(places)));
    const auto out = other->KeyOf(CompilationTask::kCompileAndLink, target, inputs, {});
    REQUIRE(out.ok());
    return *out;
  };
  const TemporaryDirectory directory;
  const ToolchainOptions finalizing{
      .finalizer = {.nvjitlink_path = "/bin/true",
                    .worker_path = "/bin/true",
                    .temporary_directory = directory.path().string()}};
  CHECK(with(finalizing, both, kTarget) == key(both, {}));
  CHECK(with(finalizing, both, Arch{100}) !=
        key(both, {}, CompilationTask::kCompileAndLink, Arch{100}));
  const std::string ptxas = PretendPtxas(directory);
  const Bytes fatbin = {0x50, 0xed, 0x55, 0xba};
  const std::vector<CompilationInput> container = {{.name = "a", .bytes = fatbin}};
  const ToolchainOptions assembling{
      .ptx = {.ptxas_path = ptxas, .temporary_directory = directory.path().string()}};
  CHECK(with(assembling, both, kTarget) == key(both, {}));
  CHECK(with(assembling, container, kTarget) != key(container, {}));

  const CompilationOptions named{.assembler_options = {"-optf=/dev/null"}};
  CHECK(absl::IsFailedPrecondition(
      provider->KeyOf(CompilationTask::kCompile, kTarget, both, named).status()));
}

}  // namespace
}  // namespace devlink::testing
