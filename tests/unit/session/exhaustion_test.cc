// SPDX-License-Identifier: Apache-2.0
//
// Memory that runs out, at every allocation of a link in turn, and memory that many sessions leave.
// A program of its own, since operator new is replaced (support/failing_memory.h).
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/guard.h"
#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/failing_memory.h"
#include "support/host_object.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

// Enough functions that tables grow several times.
Cubin Many(bool all_defined) {
  CubinSpec spec{.global_bytes = 64 * 1024};
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    spec.functions.push_back({.name = "a_kernel_with_a_long_name_" + number,
                              .calls = {"a_function_with_a_long_name_" + number},
                              .kernel = true,
                              .static_shared = 16});
    if (all_defined || i != 7) {
      spec.functions.push_back(
          {.name = "a_function_with_a_long_name_" + number, .weak = i % 2 == 0, .frame = 16});
    }
  }
  return BuildCubin(spec);
}

struct Inputs {
  Cubin first = BuildCubin({.functions = {{.name = "k", .calls = {"f"}, .kernel = true}},
                            .global_bytes = 8 * 1024,
                            .global_name = "first"});
  Cubin second = Many(true);
  Cubin undefined = Many(false);
  Cubin third = BuildCubin({.functions = {{.name = "f"}}, .global_bytes = 16, .global_name = "w"});
  ByteVector archive = BuildArchive(
      {{"h.o", MakeHostObject(BuildCubin({.functions = {{.name = "k2", .kernel = true}},
                                          .global_bytes = 16 * 1024,
                                          .global_name = "third"}),
                              80, {{".nvHRKE", ListBytes({"k*", "a_kernel*"})}})}});
};

enum class Way { kWhole, kUndefined, kRelocatable };

// Status and bytes of a whole session of which each step may fail.
LinkOutcome LinkAll(const Inputs& inputs, std::vector<std::uint8_t> archive, Way way) {
  LinkOutcome out;
  LinkOptions options{.target = Arch{.number = 80}};
  options.relocatable = way == Way::kRelocatable;
  options.verbose = true;
  auto session = LinkSession::Create(options);
  if (!session.ok()) {
    out.status = session.status();
    return out;
  }
  const bool undefined = way == Way::kUndefined;
  const std::array<std::span<const std::uint8_t>, 3> cubins = {
      std::span(inputs.first), std::span(undefined ? inputs.undefined : inputs.second),
      std::span(inputs.third)};
  absl::Status added;
  for (const std::span<const std::uint8_t> cubin : cubins) {
    if (added.ok()) added = session->AddCubin("cubin", cubin);
  }
  if (added.ok()) added = session->AddInput("l.a", std::move(archive));
  out = session->Link();
  if (!added.ok()) out.status = added;
  return out;
}

// One failure among allocations that succeed, or no memory at all from some point on.
void FailEachAllocation(Way way, bool from_there_on) {
  const Inputs inputs;
  const LinkOutcome whole = LinkAll(inputs, inputs.archive, way);
  const absl::StatusCode expected = whole.status.code();
  REQUIRE(expected ==
          (way == Way::kUndefined ? absl::StatusCode::kNotFound : absl::StatusCode::kOk));
  std::int64_t n = 0;
  for (;; ++n) {
    std::vector<std::uint8_t> archive = inputs.archive;
    const std::int64_t live_before = memory.live - 1;  // the copy of the archive is handed over
    bool is_sound = false;
    std::string said;
    memory.failures = 0;
    memory.goes_on_failing = from_there_on;
    memory.left = n;
    {
      const LinkOutcome outcome = LinkAll(inputs, std::move(archive), way);
      memory.left = -1;
      const absl::StatusCode code = outcome.status.code();
      // Some of those that use memory do without where there is none.
      is_sound = code == absl::StatusCode::kResourceExhausted ||
                 (code == expected && outcome.cubin == whole.cubin);
      if (!is_sound) said = outcome.status.ToString();
    }
    archive = {};
    if (!is_sound) FAIL_CHECK("allocation " << n << ": " << said);
    const std::int64_t leaked = memory.live - live_before - (said.capacity() > 15 ? 1 : 0);
    if (leaked != 0) FAIL_CHECK("allocation " << n << ": " << leaked << " leaked");
    if (memory.failures == 0) break;
  }
  CHECK(n > 500);
}

TEST_CASE("A link may run out of memory at every step", "[exhaustion]") {
  FailEachAllocation(Way::kWhole, /*from_there_on=*/true);
}

TEST_CASE("A link bears a single allocation that fails", "[exhaustion]") {
  FailEachAllocation(Way::kWhole, /*from_there_on=*/false);
  FailEachAllocation(Way::kRelocatable, /*from_there_on=*/false);
}

TEST_CASE("A link that fails may run out of memory at every step, too", "[exhaustion]") {
  FailEachAllocation(Way::kUndefined, /*from_there_on=*/true);
}

TEST_CASE("Readers of single files may run out of memory", "[exhaustion]") {
  const Inputs inputs;
  memory.goes_on_failing = true;
  for (std::int64_t n = 0;; ++n) {
    memory.failures = 0;
    ModulePool pool;
    memory.left = n;
    const auto module = pool.AddCubin(std::span<const std::uint8_t>(inputs.first));
    const absl::StatusCode code = module.status().code();
    memory.left = -1;
    if (module.ok()) break;
    CHECK(code == absl::StatusCode::kResourceExhausted);
  }
}

std::uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// One session of each kind: links, refusals, copies, what is read and never linked.
void RunSessions(const Inputs& inputs, const std::shared_ptr<ModulePool>& pool, int n) {
  const std::vector<std::uint8_t> cut(inputs.first.begin(), inputs.first.begin() + 300);
  auto session = LinkSession::Create({.target = Arch{.number = 80}}, {.pool = pool});
  REQUIRE(session.ok());
  REQUIRE(session->AddCubin("first", std::span<const std::uint8_t>(inputs.first)).ok());
  switch (n % 5) {
    case 0: {
      REQUIRE(session->AddCubin("third", std::span<const std::uint8_t>(inputs.third)).ok());
      const LinkSession copy = *session;
      CHECK(session->Link().ok());
      CHECK(copy.Link().ok());
      break;
    }
    case 1:  // `f` is undefined
      CHECK_FALSE(session->Link().ok());
      break;
    case 2:
      CHECK_FALSE(session->AddCubin("cut", std::span<const std::uint8_t>(cut)).ok());
      CHECK_FALSE(session->Link().ok());
      break;
    case 3: {  // a cubin that no session before had
      const Cubin own = BuildCubin({.functions = {{.name = "f"}, {.name = std::to_string(n)}}});
      REQUIRE(session->AddCubin("own", std::span<const std::uint8_t>(own)).ok());
      CHECK(session->Link().ok());
      break;
    }
    default:
      CHECK(session->AddInput("l.a", ByteVector(inputs.archive)).ok());
  }
}

TEST_CASE("Ten thousand sessions leave nothing behind", "[exhaustion]") {
  const Inputs inputs;
  constexpr int kSessions = 10000;
  constexpr int kWarm = 1000;  // until tables and the heap have the size that they keep
  for (const bool shares_pool : {false, true}) {
    auto pool = shares_pool
                    ? std::make_shared<ModulePool>(ModulePoolOptions{.max_bytes = 256 * 1024})
                    : nullptr;
    std::int64_t live_warm = 0;
    std::uint64_t resident_warm = 0;
    for (int n = 0; n < kSessions / 2; ++n) {
      if (n == kWarm) {
        live_warm = memory.live;
        resident_warm = ResidentBytes();
      }
      RunSessions(inputs, pool, n);
    }
    const std::int64_t more_live = memory.live - live_warm;
    const std::uint64_t resident = ResidentBytes();
    CAPTURE(shares_pool, resident_warm, resident);
    // What a pool keeps is bounded in bytes, not in pieces.
    CHECK(more_live <= (shares_pool ? 1000 : 0));
    CHECK(resident < resident_warm + (1 << 20));
  }
}

TEST_CASE("What is thrown becomes a status", "[exhaustion]") {
  const auto status_of = [](auto thrown) {
    return base::Guard([&]() -> absl::Status { throw thrown; });
  };
  CHECK(absl::IsResourceExhausted(status_of(std::bad_alloc())));
  CHECK(absl::IsResourceExhausted(status_of(std::length_error("vector"))));
  CHECK(status_of(std::runtime_error("why")) == absl::InternalError("unexpected exception: why"));
  CHECK(absl::IsInternal(status_of(7)));
}

// Sinks belong to the caller, who may throw.
class ThrowingSink final : public OutputSink {
 public:
  absl::Status Begin(std::uint64_t) override { throw std::runtime_error("sink"); }
  absl::Status Append(std::span<const std::uint8_t>) override { return absl::OkStatus(); }
};

TEST_CASE("What a caller's sink throws ends the link", "[exhaustion]") {
  const Inputs inputs;
  auto session = LinkSession::Create({.target = Arch{.number = 80}});
  REQUIRE(session->AddCubin("second", std::span<const std::uint8_t>(inputs.second)).ok());
  ThrowingSink sink;
  const LinkOutcome outcome = session->LinkTo(sink);
  CHECK(absl::IsInternal(outcome.status));
}

}  // namespace
}  // namespace devlink::testing
