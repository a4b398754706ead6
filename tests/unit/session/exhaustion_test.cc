// SPDX-License-Identifier: Apache-2.0
//
// Memory that runs out, at every large allocation of a link in turn. A program of its own, since it
// replaces operator new. Small ones do not fail: Abseil's hash tables do not survive that.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/guard.h"
#include "devlink/devlink.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/host_object.h"
#include "unit/cubin_builder.h"

namespace {

constexpr std::size_t kLarge = 4096;
// Large allocations that still succeed; none fails where it is negative.
thread_local std::int64_t left = -1;
thread_local std::int64_t failures = 0;

void* Allocate(std::size_t size, std::size_t align) {
  if (size >= kLarge && left >= 0 && left-- == 0) {
    ++failures;
    left = 0;  // and so do all that follow
    throw std::bad_alloc();
  }
  void* memory = align <= alignof(std::max_align_t)
                     ? std::malloc(size == 0 ? 1 : size)
                     : std::aligned_alloc(align, (size + align - 1) / align * align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size, 1); }
void* operator new[](std::size_t size) { return Allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t align) {
  return Allocate(size, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t size, std::align_val_t align) {
  return Allocate(size, static_cast<std::size_t>(align));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace devlink::testing {
namespace {

struct Inputs {
  Cubin first = BuildCubin({.functions = {{.name = "k", .calls = {"f"}, .kernel = true}},
                            .global_bytes = 8 * 1024,
                            .global_name = "first"});
  Cubin second = BuildCubin({.functions = {{.name = "f"}}, .global_bytes = 64 * 1024});
  ByteVector archive = BuildArchive(
      {{"h.o", MakeHostObject(BuildCubin({.functions = {{.name = "k2", .kernel = true}},
                                          .global_bytes = 16 * 1024,
                                          .global_name = "third"}),
                              80, {})}});
};

// Status and bytes of a whole session of which each step may fail.
LinkOutcome LinkAll(const Inputs& inputs, std::vector<std::uint8_t> archive, bool undefined) {
  LinkOutcome out;
  auto session = LinkSession::Create({.target = Arch{.number = 80}});
  if (!session.ok()) {
    out.status = session.status();
    return out;
  }
  const std::span<const std::uint8_t> first(inputs.first);
  const std::span<const std::uint8_t> second(inputs.second);
  absl::Status added = session->AddCubin("first", first);
  if (added.ok() && !undefined) added = session->AddCubin("second", second);
  if (added.ok()) added = session->AddInput("l.a", std::move(archive));
  out = session->Link();
  if (!added.ok()) out.status = added;
  return out;
}

void FailEachAllocation(bool undefined) {
  const Inputs inputs;
  const LinkOutcome whole = LinkAll(inputs, inputs.archive, undefined);
  const absl::StatusCode expected = whole.status.code();
  REQUIRE(expected == (undefined ? absl::StatusCode::kNotFound : absl::StatusCode::kOk));
  std::int64_t n = 0;
  for (;; ++n) {
    std::vector<std::uint8_t> archive = inputs.archive;
    failures = 0;
    left = n;
    const LinkOutcome outcome = LinkAll(inputs, std::move(archive), undefined);
    left = -1;
    const absl::StatusCode code = outcome.status.code();
    // Some of those that use memory do without where there is none.
    const bool is_sound = code == absl::StatusCode::kResourceExhausted ||
                          (code == expected && outcome.cubin == whole.cubin);
    if (!is_sound) FAIL_CHECK("allocation " << n << ": " << outcome.status.ToString());
    if (failures == 0) break;
  }
  CHECK(n >= 3);
}

TEST_CASE("A link may run out of memory at every step", "[exhaustion]") {
  FailEachAllocation(/*undefined=*/false);
}

TEST_CASE("A link that fails may run out of memory at every step, too", "[exhaustion]") {
  FailEachAllocation(/*undefined=*/true);
}

TEST_CASE("Readers of single files may run out of memory", "[exhaustion]") {
  const Inputs inputs;
  for (std::int64_t n = 0;; ++n) {
    failures = 0;
    left = n;
    ModulePool pool;
    left = -1;
    left = n;
    const auto module = pool.AddCubin(std::span<const std::uint8_t>(inputs.first));
    const absl::StatusCode code = module.status().code();
    left = -1;
    if (module.ok()) break;
    CHECK(code == absl::StatusCode::kResourceExhausted);
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
