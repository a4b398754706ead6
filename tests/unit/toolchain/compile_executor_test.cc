// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/compile_executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "assemble/ptx_packing.h"
#include "base/slots.h"
#include "cache/compile_action.h"
#include "devlink/experimental/caching_ptx_assembler.h"
#include "devlink/experimental/compile_worker.h"
#include "devlink/toolchain.h"
#include "support/catch.h"
#include "support/process.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Result = absl::StatusOr<Bytes>;

// Does what it is told to, and remembers what it was asked for.
class TestExecutor : public CompileExecutor {
 public:
  using Execution = std::function<Result(const CompileAction&, const CompileHere&)>;
  explicit TestExecutor(Execution execution, unsigned parallelism = 4)
      : execution_(std::move(execution)), parallelism_(parallelism) {}
  [[nodiscard]] unsigned Parallelism() const override { return parallelism_; }
  [[nodiscard]] Result Execute(const CompileAction& action,
                               const CompileHere& here) const override {
    {
      const std::lock_guard lock(mutex);
      keys.push_back(action.key);
      requests.emplace_back(action.request.begin(), action.request.end());
      tools.emplace_back(action.tool_name);
    }
    return execution_(action, here);
  }
  void DoneByLink(const CompileAction& /*action*/, const absl::Status& reason) const override {
    const std::lock_guard lock(mutex);
    reasons.push_back(reason);
  }

  mutable std::mutex mutex;
  mutable std::vector<CacheKey> keys;
  mutable std::vector<Bytes> requests;
  mutable std::vector<std::string> tools;
  mutable std::vector<absl::Status> reasons;

 private:
  const Execution execution_;
  const unsigned parallelism_;
};

// A ptxas that makes the same cubin of every text, but refuses one with `bad` in it, and counts.
class FakePtxas {
 public:
  explicit FakePtxas(const std::string& name = "ptxas", const std::string& comment = "") {
    path_ = directory_.File(name);
    const std::string golden = DEVLINK_GOLDEN "/common.sm_90.1.cubin";
    REQUIRE(WriteText(
        path_, "#!/bin/sh\n# " + comment +
                   "\nif [ \"$1\" = --version ]; then\n"
                   "  echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit\nfi\n"
                   "if grep -q bad \"$1\"; then\n"
                   "  echo \"$1, line 2; error   : a bad text\" >&2\n"
                   "  echo 'ptxas fatal   : Ptx assembly aborted due to errors' >&2; exit 1\n"
                   "fi\nif grep -q slow \"$1\"; then kill -9 $$; fi\n"
                   "cat '" +
                   golden + "' >\"$3\"\n"));
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  [[nodiscard]] PtxBackendOptions options(std::shared_ptr<const CompileExecutor> executor) const {
    return {.backend = PtxBackend::kPtxas,
            .ptxas_path = path_,
            .temporary_directory = directory_.path().string(),
            .executor = std::move(executor)};
  }
  [[nodiscard]] ToolchainOptions worker() const { return {.ptx = options(nullptr)}; }

 private:
  TemporaryDirectory directory_;
  std::string path_;
};

const PtxJob kGood = {.name = "good.ptx", .text = ".version 9.0\n.target sm_90"};
const PtxJob kBad = {.name = "bad.ptx", .text = ".version 9.0\nbad"};

std::string Said(const PtxResult& result) {
  std::string out = result.status.ToString() + "\n";
  for (const Diagnostic& diagnostic : result.diagnostics) {
    out += RenderDiagnostic(diagnostic, "nvlink") + "|" + diagnostic.input + "|" +
           std::to_string(diagnostic.line) + "\n";
  }
  return out;
}

void CheckSame(const PtxResult& a, const PtxResult& b) {
  CHECK(Said(a) == Said(b));
  CHECK(a.cubin == b.cubin);
}

struct PtxCase {
  FakePtxas ptxas;
  std::shared_ptr<TestExecutor> executor;
  std::unique_ptr<PtxAssembler> with;
  std::unique_ptr<PtxAssembler> without;

  explicit PtxCase(TestExecutor::Execution execution)
      : executor(std::make_shared<TestExecutor>(std::move(execution))),
        with(*CreatePtxAssembler(ptxas.options(executor))),
        without(*CreatePtxAssembler(ptxas.options(nullptr))) {}
};

TEST_CASE("What a worker makes is what the link would have made", "[executor]") {
  const FakePtxas elsewhere;  // in another folder, with the same bytes
  PtxCase c([&](const CompileAction& action, const CompileHere&) {
    return RunCompileAction(action.request, elsewhere.worker(), action.stop);
  });
  CHECK(c.with->name() == "ptxas");
  CHECK(c.with->version() == "13.0.88");
  CHECK(c.with->jobs_elsewhere() == 4);
  CHECK(c.without->jobs_elsewhere() == 0);
  for (const PtxJob& job : {kGood, kBad})
    CheckSame(c.with->Assemble(job), c.without->Assemble(job));
  CHECK(c.without->Assemble(kGood).status.ok());
  CHECK(absl::IsInvalidArgument(c.without->Assemble(kBad).status));
  CHECK(c.executor->reasons.empty());
  CHECK(c.executor->tools == std::vector<std::string>{"ptxas", "ptxas"});
  // Names do not matter, texts and words do.
  PtxJob job = kGood;
  job.name = "other.ptx";
  CHECK(c.with->Assemble(job).status.ok());
  CHECK(c.executor->requests[2] == c.executor->requests[0]);
  job.arguments = {"-O1"};
  CHECK(c.with->Assemble(job).status.ok());
  CHECK(c.executor->keys[2] == c.executor->keys[0]);
  CHECK(c.executor->keys[3] != c.executor->keys[0]);
}

TEST_CASE("A link does without an executor that does not work", "[executor]") {
  const auto good = [](const CompileAction&, const CompileHere& here) { return here(); };
  Bytes of_another;
  const std::vector<std::pair<std::string, TestExecutor::Execution>> faults = {
      {"out of reach", [](const auto&, const auto&) { return absl::UnavailableError("gone"); }},
      {"gone", [](const auto&, const auto&) -> Result { throw std::runtime_error("gone"); }},
      {"damaged", [](const auto&, const auto&) { return Bytes(); }},
      {"damaged", [](const auto&, const auto&) { return Bytes(48); }},
      {"damaged",
       [&](const auto& action, const auto& here) {
         Result result = good(action, here);
         result->back() ^= 1;
         return result;
       }},
      {"damaged",
       [&](const auto& action, const auto& here) {
         Result result = good(action, here);
         result->pop_back();
         return result;
       }},
      {"another action", [&](const auto& action, const auto& here) {
         Result result = good(action, here);
         std::swap(*result, of_another);
         return result;
       }}};
  for (const auto& [why, execution] : faults) {
    PtxCase c(execution);
    of_another = {1};
    PtxJob other = kGood;
    other.arguments = {"-O2"};
    for (const PtxJob& job : {other, kGood, kBad}) {
      CheckSame(c.with->Assemble(job), c.without->Assemble(job));
    }
    CHECK(c.executor->keys.size() == 3);
    CHECK(c.executor->reasons.size() == 3);
    CAPTURE(why);
    if (why == "gone" || why == "out of reach") {
      CHECK(c.executor->reasons[0].ToString().find("gone") != std::string::npos);
    } else {
      CHECK(c.executor->reasons[0].ToString().find(
                "the executor's result is damaged, or that of another action") !=
            std::string::npos);
    }
  }
}

TEST_CASE("What fails on this machine is tried once", "[executor]") {
  int tries = 0;
  PtxCase c([&](const CompileAction&, const CompileHere& here) {
    ++tries;
    return here();
  });
  PtxJob slow = kGood;
  slow.text = ".version 9.0\nslow";
  CheckSame(c.with->Assemble(slow), c.without->Assemble(slow));
  CHECK(absl::IsInternal(c.with->Assemble(slow).status));
  CHECK(tries == 2);
  CHECK(c.executor->reasons.empty());
}

// An executor may try here and elsewhere, and take what succeeds.
TEST_CASE("A result counts though this machine failed", "[executor]") {
  const FakePtxas elsewhere;
  PtxCase c([&](const CompileAction& action, const CompileHere& here) {
    CHECK(absl::IsUnavailable(here().status()));
    return RunCompileAction(action.request, elsewhere.worker());
  });
  // The tool here has no place for its files any more.
  PtxBackendOptions options = c.ptxas.options(c.executor);
  options.temporary_directory += "/none";
  const auto assembler = CreatePtxAssembler(options);
  REQUIRE(assembler.ok());
  CheckSame((*assembler)->Assemble(kGood), c.without->Assemble(kGood));
  CHECK(c.executor->reasons.empty());
}

TEST_CASE("An executor that does an action here does it once, and not later", "[executor]") {
  CompileHere kept;
  {
    PtxCase c([&](const CompileAction&, const CompileHere& here) {
      kept = here;
      CHECK(here().ok());
      return here();
    });
    CheckSame(c.with->Assemble(kGood), c.without->Assemble(kGood));
    REQUIRE(c.executor->reasons.size() == 1);
    CHECK(absl::IsFailedPrecondition(c.executor->reasons[0]));
  }
  CHECK(absl::IsFailedPrecondition(kept().status()));
}

// As one does that asks two, and takes what comes first.
TEST_CASE("What an executor leaves under way here is waited for", "[executor]") {
  std::atomic<int> begun = 0;
  std::atomic<int> done = 0;
  std::vector<std::jthread> threads;
  PtxCase c([&](const CompileAction&, const CompileHere& here) -> Result {
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&done, &begun, here] {
        ++begun;
        begun.notify_one();
        done += here().ok() ? 1 : 0;
      });
    }
    for (int seen = begun; seen < 2; seen = begun) begun.wait(seen);
    return absl::UnavailableError("gone");
  });
  CheckSame(c.with->Assemble(kGood), c.without->Assemble(kGood));
  threads.clear();
  CHECK(done <= 1);
}

TEST_CASE("An answer that was made up is none, or as any other", "[executor]") {
  Bytes answer;
  PtxCase c([&](const CompileAction& action, const CompileHere& here) -> Result {
    if (answer.empty()) {
      const Result good = here();
      const auto value = internal::ValueOfResult(action.key, *good);
      REQUIRE(value.has_value());
      answer.assign(value->begin(), value->end());
    }
    return internal::MakeResult(action.key, answer);
  });
  const Bytes cubin = c.with->Assemble(kGood).cubin;
  const Bytes good = answer;
  // Up to the cubin, and behind it.
  for (std::size_t i = 0; i < good.size(); i += i > 64 && i + 128 < good.size() ? 997 : 1) {
    answer = good;
    answer[i] ^= 0xff;
    (void)c.with->Assemble(kGood);
    answer.resize(std::max<std::size_t>(i, 1));
    CHECK(c.with->Assemble(kGood).cubin == cubin);  // made here
  }
  answer = internal::PackPtxAnswer(kGood, {});
  CHECK(c.with->Assemble(kGood).cubin == cubin);
}

TEST_CASE("What was stopped has no cubin, whatever was done before", "[executor]") {
  std::stop_source source;
  PtxCase c([&](const CompileAction&, const CompileHere& here) -> Result {
    REQUIRE(here().ok());
    source.request_stop();
    return Bytes{1};
  });
  PtxJob job = kGood;
  job.stop = source.get_token();
  const PtxResult result = c.with->Assemble(job);
  CHECK(absl::IsCancelled(result.status));
  CHECK(result.cubin.empty());
  CHECK(result.diagnostics.empty());
}

TEST_CASE("A job that is no longer wanted is not done", "[executor]") {
  std::stop_source source;
  PtxCase c([&](const CompileAction& action, const CompileHere&) -> Result {
    CHECK_FALSE(action.stop.stop_requested());
    source.request_stop();
    CHECK(action.stop.stop_requested());
    return absl::CancelledError("stopped");
  });
  PtxJob job = kGood;
  job.stop = source.get_token();
  const PtxResult result = c.with->Assemble(job);
  CHECK(absl::IsCancelled(result.status));
  CHECK(result.cubin.empty());
  CHECK(c.executor->reasons.empty());
}

TEST_CASE("Words that name files of this machine stay on it", "[executor]") {
  PtxCase c([](const auto&, const CompileHere& here) { return here(); });
  PtxJob job = kGood;
  job.arguments = {"--options-file=/dev/null"};
  CHECK(c.with->Assemble(job).status.ok());
  CHECK(c.executor->keys.empty());
}

TEST_CASE("A worker refuses what it cannot do as it was asked", "[executor]") {
  PtxCase c([](const auto&, const CompileHere& here) { return here(); });
  PtxJob job = kGood;
  const TemporaryDirectory folder;
  job.arguments = {"--file=" + folder.File("later")};
  REQUIRE(c.with->Assemble(job).status.ok());
  REQUIRE(c.with->Assemble(kGood).status.ok());
  const Bytes of_file = c.executor->requests[0];
  const Bytes request = c.executor->requests[1];
  const ToolchainOptions good = c.ptxas.worker();
  REQUIRE(RunCompileAction(request, good).ok());

  const auto refusal = [](const Bytes& bytes, const ToolchainOptions& tools,
                          std::stop_token stop = {}) {
    return RunCompileAction(bytes, tools, std::move(stop)).status().ToString();
  };
  const FakePtxas other("ptxas", "another");
  CHECK(refusal(request, other.worker()).find("is another ptxas than the one asked for") !=
        std::string::npos);
  CHECK(refusal(request, {}) == "NOT_FOUND: no path is given for ptxas");
  ToolchainOptions tools = good;
  tools.ptx.host_environment = {"NVVM_IR_VER_CHK=0"};
  CHECK(refusal(request, tools).find("other environment variables") != std::string::npos);
  tools = good;
  tools.ptx.environment = {"A=B"};
  CHECK(refusal(request, tools).find("other environment variables") != std::string::npos);
  tools = good;
  tools.ptx.ptxas_path = folder.File("none");
  CHECK(refusal(request, tools).find("NOT_FOUND") == 0);
  REQUIRE(WriteText(folder.File("later"), "x"));
  CHECK(refusal(of_file, good).find("an argument names a file") != std::string::npos);
  std::stop_source source;
  source.request_stop();
  CHECK(refusal(request, good, source.get_token()).find("CANCELLED") == 0);

  // The version follows the mark and two lengths.
  Bytes later = request;
  const std::string version = "0.1.0";
  const auto at = std::search(later.begin(), later.end(), version.begin(), version.end());
  REQUIRE(at != later.end());
  *at = '9';
  CHECK(refusal(later, good).find("the request is of devlink 9.1.0") != std::string::npos);
}

TEST_CASE("No request harms a worker", "[executor]") {
  PtxCase c([](const auto&, const CompileHere& here) { return here(); });
  REQUIRE(c.with->Assemble(kGood).status.ok());
  const Bytes request = c.executor->requests[0];
  // Without a tool, so that what is damaged behind the head is read all the same.
  const ToolchainOptions none;
  for (std::size_t i = 0; i < request.size(); ++i) {
    CHECK_FALSE(RunCompileAction(std::span(request).first(i), none).ok());
    for (const int bits : {0xff, 0x80, 0x01}) {
      Bytes damaged = request;
      damaged[i] = static_cast<std::uint8_t>(damaged[i] ^ bits);
      CHECK_FALSE(RunCompileAction(damaged, none).ok());
    }
  }
  Bytes longer = request;
  longer.push_back(0);
  CHECK(absl::IsInvalidArgument(RunCompileAction(longer, none).status()));
}

TEST_CASE("LTO IR is compiled elsewhere", "[executor]") {
  const auto executor = std::make_shared<TestExecutor>([](const CompileAction& action,
                                                          const auto&) {
    return RunCompileAction(action.request, *ToolsOfWorker(action.tool_name, DEVLINK_FAULTY_NVVM));
  });
  const LtoBackendOptions options{.nvvm_path = DEVLINK_FAULTY_NVVM};
  LtoBackendOptions handing_out = options;
  handing_out.executor = executor;
  const auto with = CreateLtoCompiler(handing_out);
  const auto without = CreateLtoCompiler(options);
  REQUIRE(with.ok());
  REQUIRE(without.ok());
  CHECK((*with)->jobs_elsewhere() == executor->Parallelism());
  CHECK((*without)->jobs_elsewhere() == 0);
  const Bytes ir(100, 1);
  LtoJob job{.target = {.number = 90}, .modules = {{"a", ir}, {"b", ir}}, .arguments = {"-opt=3"}};
  const auto check_same = [&] {
    const LtoOutput a = (*with)->Compile(job);
    const LtoOutput b = (*without)->Compile(job);
    CHECK(a.status == b.status);
    CHECK(a.pieces == b.pieces);
    CHECK(a.whole_program == b.whole_program);
    CHECK(a.backend_name == b.backend_name);
    CHECK(a.diagnostics.size() == b.diagnostics.size());
    return a.status;
  };
  CHECK(check_same().ok());
  CHECK(executor->tools == std::vector<std::string>{"libNVVM"});
  CHECK(executor->reasons.empty());
  // No answer that holds elsewhere, so that the link tries itself and says the same.
  job.modules[0].is_protected = true;
  CHECK(absl::IsFailedPrecondition(check_same()));
  CHECK(executor->reasons.size() == 1);
  CHECK((*with)->name() == (*without)->name());
  CHECK((*with)->version() == (*without)->version());
  CHECK_FALSE((*with)->takes_protected());
  CHECK(absl::IsInvalidArgument(ToolsOfWorker("nvlink", "x").status()));
  CHECK(ToolsOfWorker("libnvJitLink", "x")->lto.nvjitlink_path == "x");
  CHECK(ToolsOfWorker("nvJitLink", "x")->ptx.nvjitlink_path == "x");
}

TEST_CASE("A local executor bounds what runs at a time, and waits no longer than asked to",
          "[executor]") {
  const auto executor = CreateLocalExecutor(2);
  CHECK(executor->Parallelism() == 0);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const Result result = executor->Execute({}, [&]() -> Result {
          const int now = ++running;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          --running;
          return Bytes{1};
        });
        done += result.ok() ? 1 : 0;
      });
    }
  }
  CHECK(done == 8);
  CHECK(most >= 1);
  CHECK(most <= 2);

  base::Slots slots(0);  // counts as one
  const base::Slots::Slot held = slots.Take({});
  CHECK(held.taken());
  std::stop_source source;
  source.request_stop();
  CHECK_FALSE(slots.Take(source.get_token()).taken());
}

TEST_CASE("A cache in front of an executor is asked first", "[executor]") {
  const FakePtxas ptxas;
  const auto executor = std::make_shared<TestExecutor>(
      [&](const CompileAction& action, const auto&) {
        return RunCompileAction(action.request, ptxas.worker());
      },
      7);
  const auto assembler = CreateCachingPtxAssembler(ptxas.options(executor), CreateMemoryCache());
  REQUIRE(assembler.ok());
  CHECK((*assembler)->jobs_elsewhere() == 7);
  const PtxResult made = (*assembler)->Assemble(kGood);
  CheckSame((*assembler)->Assemble(kGood), made);
  CHECK(made.status.ok());
  CHECK(executor->keys.size() == 1);
  CHECK((*assembler)->cache_use().hits == 1);
  CHECK((*assembler)->cache_use().stored == 1);
}

TEST_CASE("As many jobs are under way as the executor does, whatever the link has", "[executor]") {
  constexpr unsigned kJobs = 6;
  std::mutex mutex;
  std::condition_variable changed;
  unsigned waiting = 0;
  const FakePtxas ptxas;
  const auto executor = std::make_shared<TestExecutor>(
      [&](const CompileAction& action, const auto&) {
        // All of them meet here: one after the other they would wait for ever.
        std::unique_lock lock(mutex);
        if (++waiting == kJobs) changed.notify_all();
        CHECK(changed.wait_for(lock, std::chrono::minutes(1), [&] { return waiting == kJobs; }));
        lock.unlock();
        return RunCompileAction(action.request, ptxas.worker());
      },
      kJobs);
  const auto assembler = CreatePtxAssembler(ptxas.options(executor));
  REQUIRE(assembler.ok());
  std::vector<std::string> texts;
  for (unsigned i = 0; i < kJobs; ++i) texts.push_back(".version 9.0\n// " + std::to_string(i));
  std::vector<PtxJob> jobs;
  for (const std::string& text : texts) jobs.push_back({.name = "in", .text = text});
  // One thread, and no memory for a second job.
  const auto results = AssembleAll(**assembler, jobs, {.threads = 1, .memory_budget = 1});
  REQUIRE(results.size() == kJobs);
  for (const PtxResult& result : results) CHECK(result.status.ok());
}

}  // namespace
}  // namespace devlink::testing
