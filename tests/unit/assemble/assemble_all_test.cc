// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "devlink/experimental/ptx_assembler.h"
#include "support/catch.h"
#include "support/test_environment.h"

namespace devlink::testing {
namespace {

class SleepyAssembler final : public PtxAssembler {
 public:
  [[nodiscard]] std::string_view name() const override { return "sleepy"; }
  [[nodiscard]] std::string_view version() const override { return "1"; }
  [[nodiscard]] bool matches_nvlink() const override { return false; }
  PtxResult Assemble(const PtxJob& job) const override {
    std::this_thread::sleep_for(std::chrono::microseconds(200 * (job.text.size() % 7)));
    PtxResult result;
    if (job.text.find("bad") != std::string_view::npos) {
      result.status = absl::InvalidArgumentError("bad");
    }
    return result;
  }
};

class Recorder final : public ProgressSink {
 public:
  void Report(const ProgressEvent& event) override {
    if (std::this_thread::get_id() != owner_) ++foreign;
    events.push_back(event);
    subjects.emplace_back(event.subject);
  }
  std::atomic<int> foreign = 0;
  std::vector<ProgressEvent> events;
  std::vector<std::string> subjects;

 private:
  std::thread::id owner_ = std::this_thread::get_id();
};

TEST_CASE("Progress of assembling comes from the caller's thread and reaches the end",
          "[progress]") {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 60; ++i) texts.emplace_back(i * 13 % 31, 'x');
  std::vector<PtxJob> jobs;
  for (const std::string& text : texts) {
    jobs.push_back({.name = "job " + std::to_string(jobs.size()), .text = text});
  }
  for (const unsigned threads : {1U, 2U, 8U}) {
    Recorder recorder;
    const auto results = AssembleAll(SleepyAssembler(), jobs, {.threads = threads}, &recorder);
    CHECK(results.size() == jobs.size());
    CHECK(recorder.foreign == 0);
    REQUIRE(recorder.events.size() >= 2);
    CHECK(recorder.events.front().done == 0);
    CHECK(recorder.subjects.front() == "job 0");
    CHECK(recorder.events.back().done == jobs.size());
    CHECK(recorder.subjects.back().empty());
    for (std::size_t i = 0; i < recorder.events.size(); ++i) {
      CHECK(recorder.events[i].phase == LinkPhase::kAssembling);
      CHECK(recorder.events[i].total == jobs.size());
      if (i > 0) CHECK(recorder.events[i].done >= recorder.events[i - 1].done);
    }
    if (threads == 1) CHECK(recorder.events.size() == jobs.size() + 1);
  }
}

TEST_CASE("Progress ends where a text fails", "[progress]") {
  const std::vector<PtxJob> jobs = {{.name = "a", .text = "x"},
                                    {.name = "b", .text = "bad"},
                                    {.name = "c", .text = "x"},
                                    {.name = "d", .text = "x"}};
  for (const unsigned threads : {1U, 4U}) {
    Recorder recorder;
    CHECK(AssembleAll(SleepyAssembler(), jobs, {.threads = threads}, &recorder).size() == 2);
    CHECK(recorder.events.back().done >= 2);
    CHECK(recorder.events.back().total == 4);
  }
  Recorder recorder;
  CHECK(AssembleAll(SleepyAssembler(), {}, {}, &recorder).empty());
  CHECK(recorder.events.empty());
}

// Assembles at once, notes what it was asked, and calls `on_job` first.
class NotingAssembler final : public PtxAssembler {
 public:
  [[nodiscard]] std::string_view name() const override { return "noting"; }
  [[nodiscard]] std::string_view version() const override { return "1"; }
  [[nodiscard]] bool matches_nvlink() const override { return false; }
  [[nodiscard]] std::optional<PtxResult> Find(const PtxJob& job) const override {
    if (!job.name.starts_with("known")) return std::nullopt;
    return PtxResult{.cubin = {1}};
  }
  PtxResult Assemble(const PtxJob& job) const override {
    ++calls;
    if (std::this_thread::get_id() != owner_) ++elsewhere;
    on_job(job);
    if (job.stop.stop_requested()) return {.status = absl::CancelledError("stopped")};
    return {.cubin = {2}};
  }
  std::function<void(const PtxJob&)> on_job = [](const PtxJob&) {};
  mutable std::atomic<int> calls = 0;
  mutable std::atomic<int> elsewhere = 0;

 private:
  std::thread::id owner_ = std::this_thread::get_id();
};

std::vector<PtxJob> Jobs(int count) {
  std::vector<PtxJob> out;
  for (int i = 0; i < count; ++i) out.push_back({.name = "job " + std::to_string(i), .text = "x"});
  return out;
}

TEST_CASE("No thread is started where at most one text has to be assembled", "[assemble]") {
  const TestEnvironment environment;
  const NotingAssembler assembler;
  CHECK(AssembleAll(assembler, {}, {}, nullptr, environment).empty());
  CHECK(AssembleAll(assembler, Jobs(1), {}, nullptr, environment).size() == 1);
  std::vector<PtxJob> jobs = {{.name = "known 0"}, {.name = "job 1"}, {.name = "known 2"}};
  for (const std::size_t count : {1U, 3U}) {
    Recorder recorder;
    const auto results =
        AssembleAll(assembler, std::span(jobs).first(count), {}, &recorder, environment);
    REQUIRE(results.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(results[i].status.ok());
      CHECK(results[i].cubin ==
            std::vector<std::uint8_t>{i == 1 ? std::uint8_t{2} : std::uint8_t{1}});
    }
    CHECK(recorder.events.front().done == 0);
    CHECK(recorder.events.back().done == count);
  }
  CHECK(environment.parallel_runs == 0);
  CHECK(assembler.calls == 2);
  CHECK(assembler.elsewhere == 0);

  CHECK(AssembleAll(assembler, Jobs(3), {}, nullptr, environment).size() == 3);
  CHECK(environment.parallel_runs == 1);
  CHECK(environment.most_workers == 3);  // no more than there are jobs
  CHECK(AssembleAll(assembler, Jobs(9), {.threads = 2}, nullptr, environment).size() == 9);
  CHECK(environment.most_workers == 3);
  CHECK(AssembleAll(assembler, Jobs(9), {}, nullptr, environment).size() == 9);
  CHECK(environment.most_workers == 4);  // what the environment likes best
  CHECK(AssembleAll(assembler, Jobs(9), {.threads = 1}, nullptr, environment).size() == 9);
  CHECK(environment.parallel_runs == 3);
}

TEST_CASE("Workers that are left out or come late are not missed", "[assemble]") {
  class Executor final : public ForwardingEnvironment {
   public:
    void RunWorkers(unsigned workers, const std::function<void(unsigned)>& work) const override {
      work(0);
      if (workers > 1) work(workers - 1);
    }
  };
  const NotingAssembler assembler;
  const auto results = AssembleAll(assembler, Jobs(20), {.threads = 4}, nullptr, Executor());
  CHECK(results.size() == 20);
  CHECK(assembler.calls == 20);
  CHECK(assembler.elsewhere == 0);
}

TEST_CASE("A request to stop lets no further job begin", "[assemble]") {
  for (const unsigned threads : {1U, 4U}) {
    TestEnvironment environment;
    NotingAssembler assembler;
    assembler.on_job = [&](const PtxJob& job) {
      if (job.name == "job 5") environment.stop.request_stop();
    };
    const auto results =
        AssembleAll(assembler, Jobs(200), {.threads = threads}, nullptr, environment);
    REQUIRE_FALSE(results.empty());
    CHECK(absl::IsCancelled(results.back().status));
    CHECK(assembler.calls < 200);
    for (std::size_t i = 0; i + 1 < results.size(); ++i) CHECK(results[i].status.ok());
    // The job itself was told.
    if (threads == 1) CHECK(results.size() == 6);
  }
  TestEnvironment environment;
  environment.stop.request_stop();
  const NotingAssembler assembler;
  const auto results = AssembleAll(assembler, Jobs(3), {}, nullptr, environment);
  REQUIRE(results.size() == 1);
  CHECK(absl::IsCancelled(results[0].status));
  CHECK(assembler.calls == 0);
}

TEST_CASE("Memory is reserved while texts are assembled", "[assemble]") {
  constexpr std::uint64_t kOne = (std::uint64_t{25} << 20) + 100;
  for (const unsigned threads : {1U, 4U}) {
    const TestEnvironment enough(kOne);
    NotingAssembler assembler;
    std::atomic<int> at_a_time = 0;
    std::atomic<bool> alone = true;
    assembler.on_job = [&](const PtxJob&) {
      if (++at_a_time > 1) alone = false;
      std::this_thread::yield();
      --at_a_time;
    };
    const auto results = AssembleAll(assembler, Jobs(50), {.threads = threads}, nullptr, enough);
    CHECK(results.size() == 50);
    for (const PtxResult& result : results) CHECK(result.status.ok());
    CHECK(alone);
    CHECK(enough.memory.peak() == kOne);
    CHECK(enough.memory.used() == 0);

    const TestEnvironment too_little(kOne - 1);
    const auto refused =
        AssembleAll(assembler, Jobs(50), {.threads = threads}, nullptr, too_little);
    REQUIRE(refused.size() == 1);
    CHECK(absl::IsResourceExhausted(refused[0].status));
    CHECK(too_little.memory.used() == 0);
  }
}

}  // namespace
}  // namespace devlink::testing
