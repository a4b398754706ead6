// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "devlink/experimental/ptx_assembler.h"
#include "support/catch.h"

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

}  // namespace
}  // namespace devlink::testing
