// SPDX-License-Identifier: Apache-2.0
#include "plan/lto_parts.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "plan/compile_lto.h"
#include "support/catch.h"

namespace devlink::internal {
namespace {

using Begins = std::vector<std::size_t>;
using Sizes = std::vector<std::uint64_t>;

constexpr std::uint64_t kKiB = 1024;

// Numbers that look random, and are the same everywhere.
Sizes SizesOf(std::size_t modules, std::uint64_t seed) {
  Sizes out;
  for (std::size_t i = 0; i < modules; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    out.push_back(4 * kKiB + (seed >> 33U) % (200 * kKiB));
  }
  return out;
}

// The part that each module is in.
std::vector<std::size_t> PartsOf(const Sizes& sizes, std::size_t most) {
  const Begins begins = CutIntoParts(sizes, most);
  std::vector<std::size_t> out(sizes.size());
  for (std::size_t part = 0; part < begins.size(); ++part) {
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(begins[part]), out.end(), part);
  }
  return out;
}

TEST_CASE("Modules of one size make parts of one size", "[plan][lto]") {
  CHECK(CutIntoParts(Sizes(8, 50 * kKiB), 4) == Begins{0, 2, 4, 6});
  CHECK(CutIntoParts(Sizes(8, 50 * kKiB), 1) == Begins{0});
  CHECK(CutIntoParts(Sizes(8, 50 * kKiB), 0) == Begins{0});
  CHECK(CutIntoParts(Sizes(5, 1), 2) == Begins{0, 3});
  CHECK(CutIntoParts(Sizes{}, 4).empty());
}

TEST_CASE("There are never more parts than modules, and none is empty", "[plan][lto]") {
  CHECK(CutIntoParts(Sizes(3, kKiB), 1000) == Begins{0, 1, 2});
  for (const std::size_t modules : {1U, 2U, 7U, 50U}) {
    for (std::size_t most = 1; most <= modules + 3; ++most) {
      CAPTURE(modules, most);
      const Begins begins = CutIntoParts(SizesOf(modules, most), most);
      CHECK(begins.size() == std::min(modules, most));
      CHECK(begins.front() == 0);
      CHECK(begins.back() < modules);
      CHECK(std::adjacent_find(begins.begin(), begins.end(), std::greater_equal<>()) ==
            begins.end());
    }
  }
}

TEST_CASE("One large module stands alone where the others fill the parts around it",
          "[plan][lto]") {
  CHECK(CutIntoParts(Sizes{kKiB, 900 * kKiB, kKiB, kKiB, kKiB, kKiB}, 3) == Begins{0, 1, 2});
  CHECK(CutIntoParts(Sizes{900 * kKiB, kKiB, kKiB}, 2) == Begins{0, 1});
  CHECK(CutIntoParts(Sizes{kKiB, kKiB, 900 * kKiB}, 2) == Begins{0, 2});
  // Sizes that no file has do not overflow.
  CHECK(CutIntoParts(Sizes(4, ~std::uint64_t{0}), 2) == Begins{0, 2});
}

TEST_CASE("Parts have about the same number of bytes", "[plan][lto]") {
  for (const std::size_t parts : {2U, 4U, 8U}) {
    CAPTURE(parts);
    const Sizes sizes = SizesOf(200, 7);
    const std::vector<std::size_t> part_of = PartsOf(sizes, parts);
    Sizes bytes(parts);
    for (std::size_t i = 0; i < sizes.size(); ++i) bytes[part_of[i]] += sizes[i];
    const std::uint64_t share =
        std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}) / parts;
    for (const std::uint64_t part : bytes) {
      CHECK(part > share * 3 / 4);
      CHECK(part < share * 5 / 4);
    }
  }
}

TEST_CASE("A module that changes within its power of two moves no other", "[plan][lto]") {
  Sizes sizes = SizesOf(50, 3);
  const Begins before = CutIntoParts(sizes, 16);
  for (std::uint64_t& size : sizes) {
    const std::uint64_t was = size;
    size = std::bit_ceil(size);
    CHECK(CutIntoParts(sizes, 16) == before);
    size = std::bit_ceil(was) / 2 + 1;
    CHECK(CutIntoParts(sizes, 16) == before);
    size = was;
  }
  // Small ones weigh the same, whatever they are.
  CHECK(CutIntoParts(Sizes{1, 4 * kKiB, 2 * kKiB, 3}, 2) == Begins{0, 2});
}

LtoJob JobOf(const std::vector<std::vector<std::uint8_t>>& modules) {
  LtoJob job;
  job.target = *Arch::Parse("sm_90");
  job.arguments = {"-arch=compute_90", "--device-c", "--force-device-c"};
  for (std::size_t i = 0; i < modules.size(); ++i) {
    job.modules.push_back(
        {.name = std::string(1, static_cast<char>('a' + i)) + ".o", .bytes = modules[i]});
  }
  return job;
}

TEST_CASE("A part has whole modules in link order, and the words of all", "[plan][lto]") {
  const std::vector<std::vector<std::uint8_t>> modules(5, std::vector<std::uint8_t>(5000));
  const std::vector<LtoJob> parts = CutIntoParts(JobOf(modules), 3);
  REQUIRE(parts.size() == 3);
  std::string names;
  for (const LtoJob& part : parts) {
    CHECK(part.arguments == JobOf(modules).arguments);
    CHECK(part.target == *Arch::Parse("sm_90"));
    for (const LtoModule& module : part.modules) {
      CHECK(module.bytes.data() == modules[names.size()].data());
      names += module.name[0];
    }
  }
  CHECK(names == "abcde");
  CHECK(NameOfPart(parts[0], 1) == "lto.cubin");
  CHECK(NameOfPart(parts[0], 3) == "lto.cubin (a.o to b.o)");
  CHECK(NameOfPart(CutIntoParts(JobOf(modules), 5)[4], 5) == "lto.cubin (e.o)");
  for (const LtoJob& part : parts) {
    CHECK(IsLtoResult(NameOfPart(part, 1)));
    CHECK(IsLtoResult(NameOfPart(part, 3)));
  }
  CHECK_FALSE(IsLtoResult("lto.cubins"));
  CHECK_FALSE(IsLtoResult("lto.cubin (a.o"));
  CHECK_FALSE(IsLtoResult("a.o"));
}

// Says which module it was given, and fails on some.
class FakeCompiler final : public LtoCompiler {
 public:
  explicit FakeCompiler(std::string fails_on = {}) : fails_on_(std::move(fails_on)) {}
  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] std::string_view version() const override { return {}; }
  [[nodiscard]] bool takes_protected() const override { return true; }
  [[nodiscard]] LtoOutput Compile(const LtoJob& job) const override {
    ++calls;
    LtoOutput out;
    std::string text;
    for (const LtoModule& module : job.modules) text += module.name;
    if (fails_on_.find(job.modules.front().name[0]) != std::string::npos) {
      out.status = absl::InvalidArgumentError(text);
    } else {
      out.pieces = {text};
    }
    return out;
  }
  mutable std::atomic<int> calls = 0;

 private:
  std::string fails_on_;
};

// A link with so many threads, and what its progress sink hears.
class Link final : public ProgressSink {
 public:
  void Report(const ProgressEvent& event) override {
    CHECK(event.phase == LinkPhase::kLtoCompile);
    if (event.total != total) seen.clear();
    total = event.total;
    seen.push_back(event.done);
  }
  std::string Compile(const LtoCompiler& compiler, const std::vector<LtoJob>& parts,
                      const ParallelOptions& parallel) {
    std::string out;
    for (const CompiledPart& part : CompileParts(compiler, parts, parallel, context)) {
      out += part.output.status.ok() ? part.output.pieces.front()
                                     : "!" + std::string(part.output.status.message());
      out += ' ';
    }
    return out;
  }
  std::uint32_t total = 0;
  std::vector<std::uint32_t> seen;
  Toolchain toolchain;
  LinkContext context{.environment = Environment::Default(),
                      .pool = nullptr,
                      .toolchain = toolchain,
                      .progress = this};
};

TEST_CASE("Parts come in their order, from any number of threads", "[plan][lto]") {
  const std::vector<std::vector<std::uint8_t>> modules(6, std::vector<std::uint8_t>(5000));
  const std::vector<LtoJob> parts = CutIntoParts(JobOf(modules), 6);
  for (const unsigned threads : {1U, 2U, 8U}) {
    // With hardly any memory they run one after the other.
    for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{1} << 40}) {
      CAPTURE(threads, budget);
      Link link;
      const FakeCompiler compiler;
      const ParallelOptions parallel{.threads = threads, .memory_budget = budget};
      CHECK(link.Compile(compiler, parts, parallel) == "a.o b.o c.o d.o e.o f.o ");
      CHECK(compiler.calls == 6);
      CHECK(link.total == 6);
      CHECK(link.seen.front() == 0);
      CHECK(link.seen.back() == 6);
      CHECK(std::is_sorted(link.seen.begin(), link.seen.end()));
    }
  }
}

TEST_CASE("The first part that fails is the last that counts", "[plan][lto]") {
  const std::vector<std::vector<std::uint8_t>> modules(6, std::vector<std::uint8_t>(5000));
  const std::vector<LtoJob> parts = CutIntoParts(JobOf(modules), 6);
  for (const unsigned threads : {1U, 2U, 8U}) {
    CAPTURE(threads);
    Link link;
    const FakeCompiler compiler("ce");
    CHECK(link.Compile(compiler, parts, {.threads = threads}) == "a.o b.o !c.o ");
    if (threads == 1) CHECK(compiler.calls == 3);
  }
}

TEST_CASE("A part that may not have its memory fails, and what ends is said", "[plan][lto]") {
  class Poor final : public ForwardingEnvironment {
   public:
    [[nodiscard]] absl::Status ReserveMemory(std::uint64_t /*bytes*/) const override {
      return absl::ResourceExhaustedError("no memory");
    }
    [[nodiscard]] std::stop_token StopToken() const override { return source.get_token(); }
    std::stop_source source;
  };
  const std::vector<std::vector<std::uint8_t>> modules(2, std::vector<std::uint8_t>(5000));
  Poor poor;
  Link link;
  LinkContext context{.environment = poor, .pool = nullptr, .toolchain = link.toolchain};
  const FakeCompiler compiler;
  const std::vector<LtoJob> parts = CutIntoParts(JobOf(modules), 2);
  auto made = CompileParts(compiler, parts, {.threads = 2}, context);
  REQUIRE_FALSE(made.empty());
  CHECK(absl::IsResourceExhausted(made.back().output.status));
  // One alone asks for no leave, as without parts.
  made = CompileParts(compiler, CutIntoParts(JobOf(modules), 1), {.threads = 2}, context);
  REQUIRE(made.size() == 1);
  CHECK(made.front().output.status.ok());

  poor.source.request_stop();
  made = CompileParts(compiler, parts, {.threads = 2}, context);
  REQUIRE(made.size() == 1);
  CHECK(absl::IsCancelled(made.front().output.status));
}

}  // namespace
}  // namespace devlink::internal
