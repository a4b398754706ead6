// SPDX-License-Identifier: Apache-2.0
//
// What a finalizer is told, the process it works in, and what is kept of its work.
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/experimental/caching_mercury_finalizer.h"
#include "devlink/experimental/mercury_finalizer.h"
#include "devlink/toolchain.h"
#include "finalize/finalizer_options.h"
#include "format/elf_cuda.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes CubinFor(std::uint32_t sm) {
  format::Ehdr header = {};
  std::memcpy(header.ident,
              "\x7f"
              "ELF",
              4);
  header.flags = format::MakeElfFlags(6, sm, 2);
  Bytes out(sizeof(header) + 8);
  std::memcpy(out.data(), &header, sizeof(header));
  return out;
}

TEST_CASE("Options become words, one for each name", "[finalize]") {
  const FinalizeJob job{.target = *Arch::Parse("sm_103a"),
                        .debug = true,
                        .relocatable = true,
                        .kernels_used = {"a,b", "c"},
                        .variables_used = {"v"}};
  CHECK(internal::FinalizerWords(job) ==
        std::vector<std::string>{"-arch=sm_103a", "-g", "-r", "-kernels-used=a,b",
                                 "-kernels-used=c", "-variables-used=v"});
  CHECK(internal::FinalizerWords({.target = *Arch::Parse("sm_120")}) ==
        std::vector<std::string>{"-arch=sm_120"});
}

TEST_CASE("Code for sm_100 is said to be for sm_103, in a copy", "[finalize]") {
  const Arch sm_103a = *Arch::Parse("sm_103a");
  const Bytes cubin = CubinFor(100);
  Bytes copy;
  const auto changed = internal::Retarget(cubin, sm_103a, copy);
  REQUIRE(changed.ok());
  CHECK(*changed);
  CHECK(copy == CubinFor(103));
  CHECK(cubin == CubinFor(100));
  for (const auto& [sm, target] : {std::pair(100, "sm_100f"), std::pair(103, "sm_103"),
                                   std::pair(120, "sm_121"), std::pair(100, "sm_120")}) {
    const auto same = internal::Retarget(CubinFor(sm), *Arch::Parse(target), copy);
    REQUIRE(same.ok());
    CHECK_FALSE(*same);
  }
  CHECK_FALSE(internal::Retarget(Bytes(3), sm_103a, copy).ok());
}

TEST_CASE("Without a library there is no finalizer", "[finalize]") {
  CHECK(CreateMercuryFinalizer({}).status().code() == absl::StatusCode::kNotFound);
  CHECK(CreateMercuryFinalizer({.nvjitlink_path = "/nowhere/lib.so"}).status().code() ==
        absl::StatusCode::kNotFound);
  CHECK(CreateCachingMercuryFinalizer({}, CreateMemoryCache()).status().code() ==
        absl::StatusCode::kNotFound);
  CHECK(CreateCachingMercuryFinalizer({}, nullptr).status().code() ==
        absl::StatusCode::kInvalidArgument);
  Toolchain tools;
  CHECK(tools.Finalizer().status().code() == absl::StatusCode::kNotFound);
}

// A process in the place of devlink-finalizer.
class Worker {
 public:
  explicit Worker(const std::string& script) {
    REQUIRE(WriteText(path(), "#!/bin/sh\n" + script));
    REQUIRE(WriteText(library(), "any library"));
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::string path() const { return directory_.File("worker"); }
  [[nodiscard]] std::string library() const { return directory_.File("lib.so"); }
  [[nodiscard]] FinalizerOptions options() const {
    return {.nvjitlink_path = library(),
            .worker_path = path(),
            .temporary_directory = directory_.path().string()};
  }
  [[nodiscard]] absl::StatusOr<Finalized> Finalize() const {
    const auto finalizer = CreateMercuryFinalizer(options());
    REQUIRE(finalizer.ok());
    CHECK((*finalizer)->name() == "nvJitLink");
    CHECK((*finalizer)->version().empty());
    return (*finalizer)->Finalize({.target = *Arch::Parse("sm_100")});
  }
  // What is left in its directory.
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(directory_.path()),
                         std::filesystem::directory_iterator());
  }

 private:
  TemporaryDirectory directory_;
};

TEST_CASE("A worker that crashes, fails or writes nonsense ends with a status", "[finalize]") {
  const Worker crashes("kill -SEGV $$\n");
  const auto crashed = crashes.Finalize();
  CHECK(crashed.status().code() == absl::StatusCode::kUnavailable);
  CHECK(crashed.status().message().find("crashed, signal 11") != std::string::npos);
  CHECK(crashes.files() == 2);
  const auto failed = Worker("echo broken >&2; exit 7\n").Finalize();
  CHECK(failed.status().message().find("status 7: broken") != std::string::npos);
  CHECK_FALSE(Worker("exit 0\n").Finalize().ok());  // no result
  CHECK(Worker("echo nonsense > \"$3\"\n").Finalize().status().code() ==
        absl::StatusCode::kUnavailable);
  Worker slow("sleep 60\n");
  FinalizerOptions options = slow.options();
  options.timeout = std::chrono::milliseconds(50);
  const auto finalizer = CreateMercuryFinalizer(options);
  REQUIRE(finalizer.ok());
  CHECK((*finalizer)->Finalize({.target = *Arch::Parse("sm_100")}).status().code() ==
        absl::StatusCode::kDeadlineExceeded);
  std::stop_source stop;
  stop.request_stop();
  const auto patient = CreateMercuryFinalizer(slow.options());
  REQUIRE(patient.ok());
  CHECK((*patient)
            ->Finalize({.target = *Arch::Parse("sm_100"), .stop = stop.get_token()})
            .status()
            .code() == absl::StatusCode::kCancelled);
}

TEST_CASE("A worker needs a program and a place for its files", "[finalize]") {
  const Worker worker("exit 0\n");
  FinalizerOptions options = worker.options();
  options.temporary_directory.clear();
  CHECK(CreateMercuryFinalizer(options).status().code() == absl::StatusCode::kFailedPrecondition);
  options = worker.options();
  options.worker_path += ".none";
  CHECK(CreateMercuryFinalizer(options).status().code() == absl::StatusCode::kNotFound);
  options.worker_path = options.temporary_directory;  // which has the right to be searched
  CHECK(CreateMercuryFinalizer(options).status().code() == absl::StatusCode::kNotFound);
}

TEST_CASE("The worker hands back what its library says", "[finalize]") {
  if (std::string_view(DEVLINK_FINALIZER).empty()) DEVLINK_SKIP("built without programs");
  const Worker place("");
  FinalizerOptions options = place.options();
  options.worker_path = DEVLINK_FINALIZER;
  const auto finalizer = CreateMercuryFinalizer(options);
  REQUIRE(finalizer.ok());
  const auto made = (*finalizer)->Finalize({.target = *Arch::Parse("sm_100")});
  CHECK(made.status().code() == absl::StatusCode::kFailedPrecondition);  // that is no library
  CHECK(made.status().message().find(place.library()) != std::string::npos);
}

TEST_CASE("A job that is damaged, or whose result has no place, is not served", "[finalize]") {
  const TemporaryDirectory directory("devlink-finalize");
  CHECK(ServeFinalizerJob("", directory.File("none"), directory.File("result")) != 0);
  REQUIRE(WriteText(directory.File("job"), "nonsense"));
  CHECK(ServeFinalizerJob("", directory.File("job"), directory.File("result")) != 0);
  CHECK_FALSE(std::filesystem::exists(directory.File("result")));
}

// Makes a cubin of the first input's first byte and counts.
class Counting final : public MercuryFinalizer {
 public:
  explicit Counting(int& calls) : calls_(calls) {}
  [[nodiscard]] std::string_view name() const override { return "nvJitLink"; }
  [[nodiscard]] std::string_view version() const override { return "13.0"; }
  [[nodiscard]] absl::StatusOr<Finalized> Finalize(const FinalizeJob& job) const override {
    ++calls_;
    if (job.inputs.empty()) return absl::InvalidArgumentError("nothing");
    return Finalized{.cubin = {job.inputs[0].bytes[0]}, .messages = {"warning : x"}};
  }

 private:
  int& calls_;
};

std::unique_ptr<CachingMercuryFinalizer> CachingCalls(const Worker& place, int& calls) {
  return internal::MakeCachingMercuryFinalizer(
      {.nvjitlink_path = place.library()}, CreateMemoryCache(),
      [&calls]() -> absl::StatusOr<std::unique_ptr<MercuryFinalizer>> {
        return std::make_unique<Counting>(calls);
      });
}

TEST_CASE("What was finalized once is found again, under everything it depends on", "[finalize]") {
  const Worker place("");
  int calls = 0;
  const auto cached = CachingCalls(place, calls);
  CHECK(cached->version().empty());  // nothing is opened before it is needed
  const Bytes one = {1, 2};
  const Bytes other = {2, 2};
  const FinalizeJob job{.target = *Arch::Parse("sm_100"), .inputs = {{"a", one}}};
  for (int i = 0; i < 3; ++i) {
    const auto made = cached->Finalize(job);
    REQUIRE(made.ok());
    CHECK(made->cubin == Bytes{1});
    CHECK(made->messages == std::vector<std::string>{"warning : x"});
  }
  CHECK(calls == 1);
  CHECK(cached->cache_use().hits == 2);
  CHECK(cached->version() == "13.0");
  std::vector<FinalizeJob> others(7, job);
  others[0].target = *Arch::Parse("sm_100a");
  others[1].debug = true;
  others[2].relocatable = true;
  others[3].kernels_used = {"k"};
  others[4].inputs = {{"a", other}};
  others[5].inputs = {{"b", one}};
  others[6].release = 131;
  for (const FinalizeJob& different : others) CHECK(cached->Finalize(different).ok());
  CHECK(calls == 8);
  // Failures are not kept.
  CHECK_FALSE(cached->Finalize({}).ok());
  CHECK_FALSE(cached->Finalize({}).ok());
  CHECK(calls == 10);
}

TEST_CASE("What was put together of parts is found again, too", "[finalize]") {
  const Worker place("");
  int calls = 0;
  const auto cached = CachingCalls(place, calls);
  const Bytes one = {1, 2};
  const Bytes other = {2, 2};
  const FinalizeJob job{.target = *Arch::Parse("sm_100"), .inputs = {{"a", one}}};
  int made = 0;
  const auto make = [&]() -> absl::StatusOr<Finalized> {
    return Finalized{.cubin = {static_cast<std::uint8_t>(++made)}, .messages = {"k"}};
  };
  for (int i = 0; i < 2; ++i) {
    const auto first = cached->Remembered(job, one, make);
    REQUIRE(first.ok());
    CHECK(first->cubin == Bytes{1});
    CHECK(first->messages == std::vector<std::string>{"k"});
  }
  CHECK(cached->Remembered(job, other, make)->cubin == Bytes{2});
  FinalizeJob different = job;
  different.kernels_used = {"k"};
  CHECK(cached->Remembered(different, one, make)->cubin == Bytes{3});
  CHECK(cached->Finalize(job)->cubin == Bytes{1});  // not what was put together
  CHECK(calls == 1);
  const auto fails = [] { return absl::InternalError("no"); };
  CHECK_FALSE(cached->Remembered(different, other, fails).ok());
  CHECK(cached->Remembered(different, other, make)->cubin == Bytes{4});
  // Without a cache it is made each time.
  const Counting plain(calls);
  CHECK(plain.Remembered(job, one, make)->cubin == Bytes{5});
  CHECK(plain.Remembered(job, one, make)->cubin == Bytes{6});
}

TEST_CASE("The library links for its own release", "[finalize]") {
  const auto toolkit = FindToolkit();
  if (!toolkit || toolkit->nvjitlink.empty()) DEVLINK_SKIP("no libnvJitLink");
  const auto finalizer = CreateMercuryFinalizer({.nvjitlink_path = toolkit->nvjitlink});
  REQUIRE(finalizer.ok());
  CHECK((*finalizer)->version() == toolkit->release);
  FinalizeJob job{.target = *Arch::Parse("sm_100")};
  const auto empty = (*finalizer)->Finalize(job);
  INFO(empty.status().message());
  job.release = 139;
  const auto made = (*finalizer)->Finalize(job);
  CHECK(made.status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK(made.status().message().find("another --toolkit") != std::string::npos);
  // No cubin, in this process: the library says so.
  const Bytes nonsense = {1, 2, 3};
  job.release = static_cast<std::uint16_t>(std::stoi(toolkit->release) * 10);
  job.inputs = {{"nonsense", nonsense}};
  CHECK((*finalizer)->Finalize(job).status().code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace devlink::testing
