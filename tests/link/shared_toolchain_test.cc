// SPDX-License-Identifier: Apache-2.0
//
// Sessions on many threads that share one toolchain and one pool.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "devlink/experimental/compile_cache.h"
#include "devlink/experimental/nvvm_program.h"
#include "devlink/link_session.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::uint8_t>;

constexpr int kThreads = 8;
constexpr int kLinks = 10'000;

std::uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// A program made of a cubin, PTX and, with LTO, IR; and all that links it.
class Program {
 public:
  explicit Program(const Toolkit& toolkit) : toolkit_(toolkit) {
    kernel_ = Compile("kernel.cu",
                      "extern __device__ int twice(int); extern __device__ int plus(int);"
                      "__global__ void kernel(int* p) { *p = twice(*p) + plus(*p); }",
                      {"-cubin"});
    twice_ = Compile("twice.cu", "__device__ int twice(int x) { return 2 * x; }", {"-ptx"});
    plus_ = Compile("plus.cu", "__device__ int plus(int x) { return x + 1; }", {"-ptx"});
    plus_ir_ = Compile("plus_ir.cu", "__device__ int plus(int x) { return x + 1; }", {"-ltoir"});
    MakeLoggingPtxas();
  }

  std::shared_ptr<Toolchain> MakeToolchain() {
    ToolchainOptions options;
    options.ptx.backend = PtxBackend::kPtxas;
    options.ptx.ptxas_path = directory_.File("ptxas");
    options.ptx.temporary_directory = directory_.path().string();
    const std::vector<std::string> places = {
        fs::path(toolkit_.nvcc).parent_path().parent_path().string()};
    const auto nvvm = FindNvvmLibrary(places);
    if (nvvm.ok()) options.lto.nvvm_path = *nvvm;
    options.cache = CreateMemoryCache();
    return std::make_shared<Toolchain>(std::move(options));
  }

  [[nodiscard]] LinkOutcome Link(bool lto, const SessionContext& context) const {
    LinkOptions options;
    options.target = *Arch::Parse("sm_80");
    options.lto.enabled = lto;
    options.parallel.threads = 1;
    auto session = LinkSession::Create(options, context);
    if (!session.ok()) return {.status = session.status()};
    for (const auto& [name, bytes] :
         {std::pair("kernel.cubin", &kernel_),
          {"twice.ptx", &twice_},
          {lto ? "plus.ltoir" : "plus.ptx", lto ? &plus_ir_ : &plus_}}) {
      if (auto added = session->AddInput(name, Bytes(*bytes)); !added.ok())
        return {.status = added};
    }
    return session->Link();
  }

  // How often the assembler was asked for its version, which is what opening it means.
  [[nodiscard]] long TimesOpened() const {
    const std::string log = ReadText(directory_.File("starts")).value_or("");
    long times = 0;
    for (std::size_t at = log.find("--version"); at != std::string::npos;
         at = log.find("--version", at + 1)) {
      ++times;
    }
    return times;
  }

 private:
  Bytes Compile(const std::string& name, const std::string& text,
                const std::vector<std::string>& how) {
    REQUIRE(WriteText(directory_.File(name), text));
    std::vector<std::string> command = {toolkit_.nvcc, "-arch=sm_80",
                                        "-rdc=true",   directory_.File(name),
                                        "-o",          directory_.File("out")};
    if (how.front() == "-ltoir") {
      command[1] = "-arch=lto_80";
      command.emplace_back("-dlto");
    }
    command.insert(command.end(), how.begin(), how.end());
    const ProcessResult run = RunProcess(command);
    CAPTURE(run.err);
    REQUIRE(run.ok());
    return ReadBytes(directory_.File("out")).value_or(Bytes{});
  }

  void MakeLoggingPtxas() {
    const std::string path = directory_.File("ptxas");
    // At work it may not write beside its own folder.
    REQUIRE(WriteText(path, "#!/bin/sh\nif [ \"$1\" = --version ]; then echo \"$@\" >> '" +
                                directory_.File("starts") + "'; fi\nexec '" + toolkit_.ptxas +
                                "' \"$@\"\n"));
    fs::permissions(path, fs::perms::owner_all);
  }

  const Toolkit& toolkit_;
  TemporaryDirectory directory_;
  Bytes kernel_;
  Bytes twice_;
  Bytes plus_;
  Bytes plus_ir_;
};

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

TEST_CASE("Ten thousand links share one toolchain and one pool", "[session][toolkit]") {
  const auto toolkit = FindToolkit();
  if (!toolkit.has_value()) DEVLINK_SKIP("no CUDA toolkit");
  Program program(*toolkit);
  const SessionContext shared{.pool = std::make_shared<ModulePool>(),
                              .toolchain = program.MakeToolchain()};
  std::array<Bytes, 2> expected;  // without and with LTO
  for (const bool lto : {false, true}) {
    LinkOutcome alone = program.Link(lto, shared);
    CAPTURE(lto, alone.status.ToString());
    REQUIRE(alone.ok());
    // With LTO the kernel is not LTO IR, which is said; anything else would be another link.
    CHECK(alone.diagnostics.size() == (lto ? 2 : 0));
    expected[lto ? 1 : 0] = std::move(alone.cubin);
  }
  std::atomic<int> next = 0;
  std::atomic<int> wrong = 0;
  const auto run_until = [&](int end) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = next++; i < end; i = next++) {
          const bool lto = i % 4 == 0;
          const LinkOutcome outcome = program.Link(lto, shared);
          if (!outcome.ok() || outcome.cubin != expected[lto ? 1 : 0]) ++wrong;
        }
      });
    }
  };
  run_until(kLinks / 5);
  next = kLinks / 5;
  const std::uint64_t before = ResidentBytes();
  run_until(kLinks);
  const std::uint64_t after = ResidentBytes();
  CHECK(wrong == 0);
  CHECK(program.TimesOpened() == 1);
  CHECK(shared.toolchain->tools_opened() == 2);  // ptxas and libNVVM
  CHECK(shared.pool->size() <= 6);               // inputs, and what was made of them
  // Each of them leaves less than a kilobyte, which is what the allocator's arenas vary by. The
  // thread sanitizer keeps records of its own of what threads did.
  if (!kThreadSanitizer) CHECK(after < before + (std::uint64_t{8} << 20));
}

}  // namespace
}  // namespace devlink::testing
