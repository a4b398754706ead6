// SPDX-License-Identifier: Apache-2.0
#include "devlink/toolchain.h"

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"

namespace devlink {
namespace {

TEST_CASE("A toolchain without tools says what is missing, each time", "[toolchain]") {
  Toolchain tools;
  for (int i = 0; i < 2; ++i) {
    const auto assembler = tools.Assembler({});
    CHECK(assembler.status().code() == absl::StatusCode::kNotFound);
    CHECK_FALSE(assembler.status().message().empty());
    CHECK(tools.CompilerOfLtoIr(false, false).status().code() == absl::StatusCode::kNotFound);
  }
  CHECK(tools.tools_opened() == 0);
}

// A ptxas that can say its version and nothing else, and notes that it was asked.
class VersionOnly {
 public:
  VersionOnly() {
    REQUIRE(testing::WriteText(path(),
                               "#!/bin/sh\necho x >> '" + log() +
                                   "'\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n"));
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::string path() const { return directory_.File("ptxas"); }
  [[nodiscard]] std::string directory() const { return directory_.path().string(); }
  [[nodiscard]] std::size_t starts() const {
    return testing::ReadText(log()).value_or("").size() / 2;
  }

 private:
  [[nodiscard]] std::string log() const { return directory_.File("log"); }
  testing::TemporaryDirectory directory_;
};

TEST_CASE("A tool is opened once, by whichever thread comes first", "[toolchain]") {
  const VersionOnly ptxas;
  Toolchain tools({.ptx = {.backend = PtxBackend::kPtxas,
                           .ptxas_path = ptxas.path(),
                           .temporary_directory = ptxas.directory()}});
  CHECK(ptxas.starts() == 0);  // nothing is opened before it is needed
  std::vector<const PtxAssembler*> found(8, nullptr);
  {
    std::vector<std::jthread> threads;
    for (const PtxAssembler*& assembler : found) {
      threads.emplace_back([&tools, &assembler] {
        if (auto opened = tools.Assembler({}); opened.ok()) assembler = *opened;
      });
    }
  }
  CHECK(ptxas.starts() == 1);
  CHECK(tools.tools_opened() == 1);
  REQUIRE(found.front() != nullptr);
  CHECK(found == std::vector<const PtxAssembler*>(8, found.front()));
}

TEST_CASE("Links for two releases have an assembler each", "[toolchain]") {
  const VersionOnly ptxas;
  Toolchain tools({.ptx = {.backend = PtxBackend::kPtxas,
                           .ptxas_path = ptxas.path(),
                           .temporary_directory = ptxas.directory()}});
  const auto one = tools.Assembler(*ToolkitProfile::ForRelease("13.0"));
  const auto other = tools.Assembler(*ToolkitProfile::ForRelease("13.5"));
  REQUIRE(one.ok());
  REQUIRE(other.ok());
  CHECK(*one != *other);
  CHECK(*tools.Assembler(*ToolkitProfile::ForRelease("13.5")) == *other);
  CHECK(tools.tools_opened() == 2);
}

TEST_CASE("A toolchain without a cache has used none", "[toolchain]") {
  const Toolchain tools;
  const CacheUse use = tools.cache_use();
  CHECK(use.hits + use.misses + use.stored == 0);
  CHECK(use.problems.empty());
}

}  // namespace
}  // namespace devlink
