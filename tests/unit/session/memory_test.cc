// SPDX-License-Identifier: Apache-2.0
//
// How much memory inputs may take, and who says so.
#include <cstdint>
#include <string>
#include <vector>

#include "devlink/experimental/fatbin_writer.h"
#include "devlink/link_session.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/test_environment.h"
#include "support/text.h"
#include "unit/cubin_builder.h"
#include "unit/input_builder.h"

namespace devlink::testing {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

// Containers of a few kilobytes each, every one with PTX of 8 MiB.
ByteVector Bomb(int containers) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  while (text.size() < 8 * kMiB) text += "mov.u32 %r1,%r2;\n";
  FatbinWriter writer;
  REQUIRE(writer.AddPtx(text, Arch{.number = 80}).ok());
  const ByteVector one = *writer.Write();
  ByteVector out;
  for (int i = 0; i < containers; ++i) {
    out.insert(out.end(), one.begin(), one.end());
    out.resize((out.size() + 7) / 8 * 8);
  }
  return out;
}

TEST_CASE("What is decompressed spends a budget of all inputs together", "[memory]") {
  const ByteVector bomb = Bomb(6);
  CHECK(bomb.size() < kMiB);
  const auto add = [&](std::uint64_t budget) {
    auto session =
        LinkSession::Create({.target = {.number = 80}, .max_memory_bytes = budget * kMiB});
    const absl::Status first = session->AddInput("a.fatbin", ByteVector(bomb));
    const absl::Status second = session->AddInput("b.fatbin", ByteVector(bomb));
    if (!second.ok()) {
      const std::vector<Diagnostic> found = session->diagnostics();
      CHECK_FALSE(found.empty());
      if (!found.empty()) CHECK(found.back().severity == Severity::kFatal);
    }
    return std::vector<bool>{absl::IsResourceExhausted(first), absl::IsResourceExhausted(second)};
  };
  CHECK(add(110) == std::vector<bool>{false, false});
  CHECK(add(60) == std::vector<bool>{false, true});
  CHECK(add(20) == std::vector<bool>{true, true});
}

TEST_CASE("The environment is asked for the same memory, and gets it back", "[memory]") {
  const ByteVector bomb = Bomb(6);
  for (const std::uint64_t limit : {20, 200}) {
    const TestEnvironment environment(limit * kMiB);
    {
      auto session = LinkSession::Create({.target = {.number = 80}}, {.environment = &environment});
      CHECK(session->AddInput("a.fatbin", ByteVector(bomb)).ok() == (limit > 48));
      CHECK(session->AddCubin("c", BuildCubin({.functions = {{.name = "f"}}})).ok());
      const LinkSession copy = *session;
      CHECK(environment.memory.used() > 0);
    }
    CHECK(environment.memory.used() == 0);
    CHECK(environment.memory.peak() <= limit * kMiB);
  }
}

TEST_CASE("Members of archives and files count, and only as long as they are there", "[memory]") {
  TestEnvironment environment;
  const Cubin cubin = BuildCubin({.functions = {{.name = "f"}}, .global_bytes = kMiB});
  ArchiveContents members;
  members.emplace_back("a.o", cubin);
  for (int i = 0; i < 4; ++i) members.emplace_back("t", ByteVector(kMiB, 't'));
  environment.files["l.a"] = BuildArchive(members);
  environment.files["thin.a"] = BuildThinArchive({{"x/../big", 9}, {"big", 9}, {"y/../big", 9}});
  for (const char* path : {"big", "x/../big", "y/../big"}) {
    environment.files[path] = ByteVector(4 * kMiB, 'b');
  }
  const auto open = [&](std::uint64_t budget) {
    return *LinkSession::Create({.target = {.number = 80}, .max_memory_bytes = budget * kMiB},
                                {.environment = &environment});
  };
  LinkSession session = open(8);
  CHECK(session.AddFile("l.a").ok());
  // The archive's own bytes are gone, those of the cubin in it stay.
  CHECK(environment.memory.used() == cubin.size());
  CHECK(absl::IsResourceExhausted(open(3).AddFile("l.a")));
  CHECK(open(16).AddFile("thin.a").ok());
  CHECK_FALSE(open(8).AddFile("thin.a").ok());
}

TEST_CASE("Constants of all functions are copied for all kernels within the budget", "[memory]") {
  constexpr int kCount = 1000;
  InputBuilder input;
  SymbolHandle last = kNoSymbol;
  for (int i = 0; i < kCount; ++i) {
    const SymbolHandle function = input.Define(InputBuilder::Function{.name = Cat("f", i)});
    input.AddConstants(function, 4);
    if (i > 0) input.AddCall(function, last);
    last = function;
  }
  for (int i = 0; i < kCount; ++i) input.AddCall(input.DefineKernel(Cat("k", i)), last);
  LinkOptions options;
  options.target = Arch{.number = 80};
  options.max_memory_bytes = kMiB;
  auto session = LinkSession::Create(options);
  REQUIRE(session.ok());
  REQUIRE(session->AddModule("a", input.Build()).ok());
  const LinkOutcome outcome = session->Link();
  CHECK(outcome.status.code() == absl::StatusCode::kResourceExhausted);
  REQUIRE_FALSE(outcome.diagnostics.empty());
  CHECK(outcome.diagnostics.front().text.starts_with("the constants that kernels take over"));
  CHECK(outcome.cubin.empty());
}

}  // namespace
}  // namespace devlink::testing
