// SPDX-License-Identifier: Apache-2.0
//
// Handles without any compiler: cubins, and what is refused.
#include "nvjitlink/linker.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/module.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/test_environment.h"
#include "unit/input_builder.h"

namespace devlink::nvjitlink {
namespace {

using testing::InputBuilder;
using testing::TestEnvironment;
using Bytes = std::vector<std::uint8_t>;

constexpr int kCubin = 1;
constexpr int kPtx = 2;
constexpr int kLtoIr = 3;
constexpr int kObject = 5;
constexpr int kLibrary = 6;
constexpr int kAny = 10;

Bytes BytesOf(std::string_view text) { return {text.begin(), text.end()}; }

class BoundedEnvironment : public ForwardingEnvironment {
 public:
  explicit BoundedEnvironment(MemoryBudget& budget) : budget_(budget) {}
  [[nodiscard]] absl::Status ReserveMemory(std::uint64_t bytes) const override {
    return budget_.Reserve(bytes);
  }
  void ReleaseMemory(std::uint64_t bytes) const override { budget_.Release(bytes); }

 private:
  MemoryBudget& budget_;
};

// A handle, and the cubins that are given to it.
struct Fixture {
  Fixture(std::initializer_list<std::string_view> options = {"-arch=sm_80"})
      : linker(environment,
               [this] {
                 ++searches;
                 return CommandContext{};
               }),
        created(linker.Create(std::vector<std::string_view>(options))) {}

  static Bytes Cubin(const std::string& kernel, const std::string& calls = {}) {
    InputBuilder input;
    input.DefineKernel(kernel);
    if (!calls.empty()) input.Declare(calls);
    const auto module = input.Build();
    return {module->bytes().begin(), module->bytes().end()};
  }
  std::string errors() { return std::string(linker.ErrorLog().bytes); }

  TestEnvironment environment;
  int searches = 0;  // for tools
  Linker linker;
  Result created;
};

TEST_CASE("nvJitLink: cubins are linked", "[nvjitlink]") {
  Fixture test;
  REQUIRE(test.created == Result::kSuccess);
  CHECK(test.linker.Cubin().result == Result::kInternal);
  CHECK(test.linker.AddData(kCubin, Fixture::Cubin("k"), "a") == Result::kSuccess);
  CHECK(test.linker.AddData(kAny, Fixture::Cubin("l"), "b") == Result::kSuccess);
  REQUIRE(test.linker.Complete() == Result::kSuccess);
  const Output cubin = test.linker.Cubin();
  CHECK(cubin.result == Result::kSuccess);
  CHECK(cubin.bytes.find("JIT API Command Line Options") != std::string_view::npos);
  CHECK(cubin.bytes.find(".text.k") != std::string_view::npos);
  CHECK(cubin.bytes.find(".text.l") != std::string_view::npos);
  CHECK(test.linker.ErrorLog().bytes.empty());
  CHECK(test.linker.ErrorLog().result == Result::kSuccess);
  CHECK(test.linker.Ptx().result == Result::kInvalidInput);
  CHECK(test.linker.LtoIr().result == Result::kInvalidInput);
}

TEST_CASE("nvJitLink: tools are looked for once, where they are needed", "[nvjitlink]") {
  Fixture cubins;
  CHECK(cubins.linker.AddData(kCubin, Fixture::Cubin("k"), "a") == Result::kSuccess);
  REQUIRE(cubins.linker.Complete() == Result::kSuccess);
  CHECK(cubins.searches == 0);

  Fixture ptx;
  for (int i = 0; i < 2; ++i) {
    CHECK(ptx.linker.AddData(kPtx, BytesOf(".version 8.0\n.target sm_80\n"), "p") !=
          Result::kSuccess);  // there is no assembler
    CHECK(ptx.searches == 1);
  }

  // What finalizes code is a tool, too.
  Fixture two_views({"-arch=sm_100"});
  CHECK(two_views.searches == 1);
}

TEST_CASE("nvJitLink: what was completed stays, and takes nothing more", "[nvjitlink]") {
  Fixture test;
  REQUIRE(test.linker.Complete() == Result::kSuccess);
  const std::string before(test.linker.Cubin().bytes);
  CHECK(!before.empty());
  CHECK(test.linker.Complete() == Result::kInternal);
  CHECK(test.linker.AddData(kCubin, Fixture::Cubin("k"), "a") == Result::kInternal);
  CHECK(test.errors() == std::string("ERROR 1: empty elfw when adding cubina\n\0", 40));
  CHECK(test.linker.Cubin().bytes == before);
}

TEST_CASE("nvJitLink: the type of an input is what its bytes are", "[nvjitlink]") {
  Fixture test;
  const Bytes cubin = Fixture::Cubin("k");
  CHECK(test.linker.AddData(kPtx, cubin, "a") == Result::kIncorrectInputType);
  CHECK(test.linker.AddData(99, cubin, "a") == Result::kIncorrectInputType);
  CHECK(test.linker.AddData(kAny, BytesOf("hello"), "a") == Result::kUnrecognizedInput);
  CHECK(test.linker.AddData(kObject, BytesOf("hello"), "a") == Result::kIncorrectInputType);
  CHECK(test.linker.AddData(kCubin, {}, "a") == Result::kInvalidInput);
  CHECK(test.linker.AddData(kLtoIr, BytesOf("\xed\x43\x4e\x7f"), "a") == Result::kLtoNotEnabled);
  CHECK(test.errors() ==
        std::string("ERROR 1: bad input: does not match type NVJITLINK_INPUT_PTXa\n"
                    "unsupported input type: a\n"
                    "unrecognized input type: a\n"
                    "ERROR 1: bad input: does not match type NVJITLINK_INPUT_OBJECTa\n"
                    "ERROR 1: LTO-IR input cannot be used without LTO enabled (-lto)\n") +
            '\0');
  // A host object may be any ELF file, and need not have device code.
  CHECK(test.linker.AddData(kObject, cubin, "a") == Result::kSuccess);
}

TEST_CASE("nvJitLink: a damaged cubin is refused, and the rest is linked", "[nvjitlink]") {
  Fixture test;
  Bytes cubin = Fixture::Cubin("k");
  cubin.resize(cubin.size() / 2);
  CHECK(test.linker.AddData(kCubin, cubin, "half") == Result::kInvalidInput);
  CHECK(test.errors() == std::string("ERROR 4: bad input:half\n") + '\0');
  CHECK(test.linker.Complete() == Result::kSuccess);
}

TEST_CASE("nvJitLink: inputs ask for leave to use memory, and give it back", "[nvjitlink]") {
  const Bytes cubin = Fixture::Cubin("k");
  const Bytes archive = testing::BuildArchive({{"k.cubin", cubin}});
  MemoryBudget budget(cubin.size() + 100);
  const BoundedEnvironment environment(budget);
  {
    Linker linker(environment, [] { return CommandContext{}; });
    REQUIRE(linker.Create(std::vector<std::string_view>{"-arch=sm_80"}) == Result::kSuccess);
    CHECK(linker.AddData(kCubin, cubin, "a") == Result::kSuccess);
    CHECK(budget.used() > 0);
    const std::uint64_t used = budget.used();
    for (const auto& [type, bytes] :
         {std::pair(kCubin, Fixture::Cubin("l")), std::pair(kLibrary, archive)}) {
      CHECK(linker.AddData(type, bytes, "b") == Result::kInternal);
      CHECK(budget.used() == used);
    }
    CHECK_FALSE(linker.ErrorLog().bytes.empty());
    CHECK(linker.Complete() == Result::kSuccess);
  }
  CHECK(budget.used() == 0);
}

TEST_CASE("nvJitLink: files are read by the environment", "[nvjitlink]") {
  Fixture test;
  test.environment.files["k.cubin"] = Fixture::Cubin("k");
  CHECK(test.linker.AddFile(kCubin, "k.cubin") == Result::kSuccess);
  CHECK(test.linker.AddFile(kCubin, "none") == Result::kInvalidInput);
  CHECK(test.errors() == std::string("no such file: none\n") + '\0');
}

TEST_CASE("nvJitLink: the same cubin twice is one, another of its name is too much",
          "[nvjitlink]") {
  Fixture test;
  CHECK(test.linker.AddData(kCubin, Fixture::Cubin("k"), "a") == Result::kSuccess);
  CHECK(test.linker.AddData(kCubin, Fixture::Cubin("k"), "b") == Result::kSuccess);
  InputBuilder other;
  other.Define({.name = "k", .kernel = true, .fill = 0x33});
  const auto module = other.Build();
  const Bytes bytes(module->bytes().begin(), module->bytes().end());
  SECTION("the same") { CHECK(test.linker.Complete() == Result::kSuccess); }
  SECTION("another") {
    CHECK(test.linker.AddData(kCubin, bytes, "c") == Result::kSuccess);
    CHECK(test.linker.Complete() == Result::kInternal);
    CHECK(test.errors().find("Multiple definition of 'k' in 'c', first defined in 'a'") !=
          std::string::npos);
    CHECK(test.errors().find("ERROR 9: finish\n") != std::string::npos);
    CHECK(test.linker.Cubin().result == Result::kInternal);
  }
}

TEST_CASE("nvJitLink: a handle that could not be set up only has its log", "[nvjitlink]") {
  Fixture test({"-arch=sm_80", "-foo"});
  CHECK(test.created == Result::kUnrecognizedOption);
  CHECK(test.errors() == std::string("unrecognized option: -foo\n") + '\0');
  CHECK(test.linker.AddData(kCubin, Fixture::Cubin("k"), "a") == Result::kInternal);
  CHECK(test.linker.AddFile(kCubin, "a") == Result::kInternal);
  CHECK(test.linker.Complete() == Result::kInternal);
}

TEST_CASE("nvJitLink: PTX needs LTO IR and nothing else", "[nvjitlink]") {
  Fixture test({"-arch=sm_80", "-lto", "-ptx"});
  CHECK(test.linker.Ptx().result == Result::kInternal);
  CHECK(test.linker.LtoIr().result == Result::kInternal);
  CHECK(test.linker.Complete() == Result::kNvvmCompile);
  CHECK(test.linker.AddData(kCubin, Fixture::Cubin("k"), "a") == Result::kSuccess);
  CHECK(test.linker.Complete() == Result::kIncorrectInputType);
  CHECK(test.errors().find("ERROR: -ptx requires that all inputs have LTOIR\n") !=
        std::string::npos);
}

TEST_CASE("nvJitLink: types have the names that logs have", "[nvjitlink]") {
  CHECK(NameOf(InputType::kCubin) == "NVJITLINK_INPUT_CUBIN");
  CHECK(NameOf(InputType::kIndex) == "NVJITLINK_INPUT_INDEX");
  CHECK(NameOf(static_cast<InputType>(8)).empty());
}

}  // namespace
}  // namespace devlink::nvjitlink
