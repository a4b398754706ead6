// SPDX-License-Identifier: Apache-2.0
//
// Whatever the environment refuses, at whichever moment: a run ends with an error and leaves
// nothing behind, and what it kept for later runs is sound.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "devlink/link_session.h"
#include "devlink/nvlink_command.h"
#include "devlink/toolchain.h"
#include "support/catch.h"
#include "support/process.h"
#include "unit/command/command_folder.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

enum class Fault { kRead, kMemory, kStop };

// Refuses one request of a kind, the one with the given number.
class Refusing final : public ForwardingEnvironment {
 public:
  Refusing(Fault fault, int step) : fault_(fault), step_(step) {}

  absl::StatusOr<FileContents> ReadFile(const std::string& path,
                                        std::uint64_t max_bytes) const override {
    if (Hits(Fault::kRead)) return absl::NotFoundError("cannot read: refused");
    return base().ReadFile(path, max_bytes);
  }
  absl::Status ReserveMemory(std::uint64_t bytes) const override {
    if (Hits(Fault::kMemory)) return absl::ResourceExhaustedError("refused");
    reserved_ += bytes;
    return absl::OkStatus();
  }
  void ReleaseMemory(std::uint64_t bytes) const override { reserved_ -= bytes; }
  std::stop_token StopToken() const override {
    if (Hits(Fault::kStop)) source_.request_stop();
    return source_.get_token();
  }

  [[nodiscard]] bool was_hit() const { return steps_ > step_; }
  [[nodiscard]] std::uint64_t reserved() const { return reserved_; }

 private:
  bool Hits(Fault fault) const { return fault == fault_ && steps_++ == step_; }

  const Fault fault_;
  const int step_;
  mutable std::atomic<int> steps_ = 0;
  mutable std::atomic<std::uint64_t> reserved_ = 0;
  mutable std::stop_source source_;
};

TEST_CASE("Each refusal of the environment ends a run cleanly", "[faults]") {
  CommandFolder folder;
  const auto fault = GENERATE(Fault::kRead, Fault::kMemory, Fault::kStop);
  int steps = 0;
  for (;; ++steps) {
    CAPTURE(fault, steps);
    REQUIRE(steps < 1000);
    const Refusing environment(fault, steps);
    const int status = folder.Run(environment);
    CHECK(environment.reserved() == 0);
    CHECK(fs::is_empty(folder.At("temporary")));
    if (!environment.was_hit()) {
      CAPTURE(folder.said);
      CHECK(status == 0);
      break;
    }
    CHECK(status != 0);
    CHECK_FALSE(folder.said.empty());
    CHECK(fs::is_empty(folder.At("out")));
    // The first run that gets far enough fills the cache; each starts without one.
    fs::remove_all(folder.At("cache"));
  }
  CHECK(steps > 0);
  const auto cubin = ReadBytes(folder.At("out/x.cubin"));
  REQUIRE(cubin);
  // What was kept gives the same again, without the assembler.
  fs::remove(folder.At("out/x.cubin"));
  REQUIRE(WriteText(folder.At("helper.cubin"), "no cubin any more"));
  CHECK(folder.Run(Environment::Default()) == 0);
  CHECK(ReadBytes(folder.At("out/x.cubin")) == cubin);
}

TEST_CASE("What a run was refused midway leaves its cache sound", "[faults]") {
  CommandFolder folder;
  REQUIRE(folder.Run(Environment::Default()) == 0);
  const auto cubin = ReadBytes(folder.At("out/x.cubin"));
  for (const Fault fault : {Fault::kRead, Fault::kMemory, Fault::kStop}) {
    for (int step = 0;; ++step) {
      REQUIRE(step < 1000);
      const Refusing environment(fault, step);
      (void)folder.Run(environment);
      // The outputs of the run before are not touched by one that fails.
      CHECK(ReadBytes(folder.At("out/x.cubin")) == cubin);
      if (!environment.was_hit()) break;
    }
  }
  CHECK(folder.Run(Environment::Default()) == 0);
  CHECK(ReadBytes(folder.At("out/x.cubin")) == cubin);
}

TEST_CASE("Modules that were assembled count against a pool's bound", "[faults]") {
  const TemporaryDirectory directory;
  ToolchainOptions tools;
  tools.ptx.backend = PtxBackend::kPtxas;
  tools.ptx.ptxas_path = MakeAssembler(directory, directory.File("made.cubin"));
  tools.ptx.temporary_directory = directory.path().string();
  const std::string ptx = ".version 8.0\n.target sm_80\n.address_size 64\n";
  auto toolchain = std::make_shared<Toolchain>(tools);
  std::uint64_t size = 0;
  std::shared_ptr<ModulePool> pool;
  for (int i = 0; i < 8; ++i) {
    const auto cubin =
        BuildCubin({.functions = {{.name = "k" + std::to_string(i), .kernel = true}}});
    REQUIRE(WriteBytes(directory.File("made.cubin"), cubin));
    if (pool == nullptr) {
      size = cubin.size();
      pool = std::make_shared<ModulePool>(ModulePoolOptions{.max_bytes = 2 * size});
    }
    auto session = LinkSession::Create({.target = *Arch::Parse("sm_80")},
                                       {.pool = pool, .toolchain = toolchain});
    REQUIRE(session.ok());
    REQUIRE(session->AddInput("a.ptx", std::vector<std::uint8_t>(ptx.begin(), ptx.end())).ok());
    REQUIRE(session->Link().ok());
    CHECK(pool->bytes() <= 4 * size);
  }
  CHECK(pool->use().forgotten >= 4);
}

}  // namespace
}  // namespace devlink::testing
