// SPDX-License-Identifier: Apache-2.0
//
// Many inputs added at once: as one after the other, whatever the threads do.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "devlink/link_session.h"
#include "devlink/sinks.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/recording_sink.h"
#include "support/test_environment.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

constexpr int kInputs = 320;  // reading them is worth eight threads

// Cubins that need each other, some that are damaged or for another target, and one that is absent.
void FillFiles(TestEnvironment& environment, std::vector<std::string>& paths) {
  for (int i = 0; i < kInputs; ++i) {
    const std::string name = "f" + std::to_string(i);
    const std::string path = "in/" + name + ".cubin";
    Cubin cubin = BuildCubin(
        {.functions = {{.name = name,
                        .calls = {"f" + std::to_string(i == 0 || i % 5 == 2 || i > 34 ? 0 : i - 1)},
                        .kernel = i % 5 == 1,
                        .registers = 8U + static_cast<unsigned>(i)}},
         .global_bytes = static_cast<std::uint32_t>(4 * i),
         .global_name = "v" + std::to_string(i)});
    if (i == 35) cubin.resize(cubin.size() / 2);
    if (i == 37) cubin = BuildCubin({.sm = 90, .functions = {{.name = "other"}}});
    if (i != 39) environment.files[path] = std::move(cubin);
    paths.push_back(path);
  }
}

std::vector<std::string> Texts(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : diagnostics) {
    out.push_back(diagnostic.input + ": " + diagnostic.text);
    out.insert(out.end(), diagnostic.notes.begin(), diagnostic.notes.end());
  }
  return out;
}

// What came of the inputs and of their link.
struct Result {
  explicit Result(const LinkSession& session) : found(Texts(session.diagnostics())) {
    const LinkOutcome outcome = session.Link();
    cubin = outcome.cubin;
    said = Texts(outcome.diagnostics);
  }
  std::vector<std::string> found;
  std::vector<std::string> said;
  Cubin cubin;
  friend bool operator==(const Result&, const Result&) = default;
};

LinkSession SessionIn(const TestEnvironment& environment, unsigned threads) {
  return *LinkSession::Create({.target = {.number = 80}, .parallel = {.threads = threads}},
                              {.environment = &environment});
}

// The first status that is wrong, and the result.
std::pair<absl::Status, Result> OneByOne(const TestEnvironment& environment,
                                         const std::vector<std::string>& paths) {
  LinkSession session = SessionIn(environment, 1);
  absl::Status first;
  for (const std::string& path : paths) first.Update(session.AddFile(path));
  return {first, Result(session)};
}

TEST_CASE("Many files at once are what they are one by one", "[session]") {
  const bool short_of_memory = GENERATE(false, true);
  std::map<std::string, Executor> executors = OddExecutors();
  executors["threads of the machine"] = nullptr;
  for (const auto& [name, executor] : executors) {
    // Leave for about half of them, which half must not depend on threads.
    TestEnvironment environment(short_of_memory ? 160'000 : ~std::uint64_t{0});
    std::vector<std::string> paths;
    FillFiles(environment, paths);
    const auto [status, expected] = OneByOne(environment, paths);
    REQUIRE_FALSE(status.ok());
    const bool refused = std::any_of(
        expected.found.begin(), expected.found.end(),
        [](const std::string& text) { return text.find("no memory") != std::string::npos; });
    REQUIRE(refused == short_of_memory);
    REQUIRE((short_of_memory || !expected.cubin.empty()));
    CHECK(environment.memory.used() == 0);
    environment.executor = executor;
    for (const unsigned threads : {1U, 2U, 8U}) {
      CAPTURE(name, threads, short_of_memory);
      {
        LinkSession session = SessionIn(environment, threads);
        CHECK(session.AddFiles(paths) == status);
        CHECK(Result(session) == expected);
        CHECK(environment.memory.used() <= environment.memory.limit());
        CHECK(environment.memory.used() > 0);
      }
      CHECK(environment.memory.used() == 0);
    }
    CHECK(environment.parallel_runs == 2);
    CHECK(environment.most_workers == 8);
  }
}

TEST_CASE("Many inputs from memory at once are what they are one by one", "[session]") {
  TestEnvironment environment;
  std::vector<std::string> paths;
  FillFiles(environment, paths);
  LinkSession one_by_one = SessionIn(environment, 1);
  for (const auto& [name, bytes] : environment.files) {
    one_by_one.AddInput(name, Cubin(bytes)).IgnoreError();
  }
  const Result expected(one_by_one);
  for (const unsigned threads : {1U, 2U, 8U}) {
    CAPTURE(threads);
    LinkSession session = SessionIn(environment, threads);
    std::vector<MemoryInput> inputs;
    for (const auto& [name, bytes] : environment.files) inputs.push_back({name, bytes});
    CHECK_FALSE(session.AddInputs(std::move(inputs)).ok());
    CHECK(Result(session) == expected);
  }
}

TEST_CASE("Where a bad input ends the link, none behind it is added", "[session]") {
  TestEnvironment environment;
  std::vector<std::string> paths;
  FillFiles(environment, paths);
  paths.erase(paths.begin() + 39);  // is absent
  for (const bool from_memory : {false, true}) {
    for (const unsigned threads : {1U, 2U, 8U}) {
      CAPTURE(from_memory, threads);
      const auto session_that_ends = [&] {
        return *LinkSession::Create({.target = {.number = 80},
                                     .parallel = {.threads = threads},
                                     .end_at_rejected_input = true},
                                    {.environment = &environment});
      };
      LinkSession one_by_one = session_that_ends();
      absl::Status status;
      std::size_t added = 0;
      for (; status.ok() && added < paths.size(); ++added) {
        status = from_memory
                     ? one_by_one.AddInput(paths[added], Cubin(environment.files.at(paths[added])))
                     : one_by_one.AddFile(paths[added]);
      }
      REQUIRE_FALSE(status.ok());
      REQUIRE(added < paths.size());
      LinkSession session = session_that_ends();
      if (from_memory) {
        std::vector<MemoryInput> inputs;
        for (const std::string& path : paths) inputs.push_back({path, environment.files.at(path)});
        CHECK(session.AddInputs(std::move(inputs)) == status);
      } else {
        CHECK(session.AddFiles(paths) == status);
      }
      CHECK(Result(session) == Result(one_by_one));
    }
  }
}

TEST_CASE("What lies behind a bad input that ends the link does not matter", "[session]") {
  // The first is damaged. Those that follow are more than there is memory for; the last is absent.
  for (const int count : {3, 40, 600}) {
    std::vector<std::string> read;
    for (const unsigned threads : {1U, 2U, 8U}) {
      CAPTURE(count, threads);
      TestEnvironment environment(2000);
      std::vector<std::string> paths;
      for (int i = 0; i < count; ++i) {
        paths.push_back("in" + std::to_string(1000 + i));
        if (i != count - 1) environment.files[paths.back()] = Cubin(i == 0 ? 10 : 4000, 0x7f);
      }
      LinkSession session = *LinkSession::Create({.target = {.number = 80},
                                                  .parallel = {.threads = threads},
                                                  .end_at_rejected_input = true},
                                                 {.environment = &environment});
      CHECK(absl::IsInvalidArgument(session.AddFiles(paths)));
      CHECK(session.diagnostics().size() == 1);
      // Whoever asks which files were read is told the same on any threads.
      std::vector<std::string> now = environment.paths_read();
      std::sort(now.begin(), now.end());
      if (read.empty()) read = now;
      CHECK(now == read);
      CHECK(now.size() <= (count < 8 ? 1 : 256));
    }
  }
}

TEST_CASE("The passes of a large program give the same on any threads", "[session]") {
  constexpr int kFunctions = 5000;
  CubinSpec spec;
  for (int i = 0; i < kFunctions; ++i) {
    spec.functions.push_back({.name = "f" + std::to_string(i), .kernel = i % 2 == 0});
  }
  const Cubin cubin = BuildCubin(spec);
  const auto link = [&](const TestEnvironment& environment, unsigned threads) {
    LinkSession session = SessionIn(environment, threads);
    REQUIRE(session.AddCubin("large", cubin).ok());
    return session.Link();
  };
  const TestEnvironment alone;
  const LinkOutcome expected = link(alone, 1);
  REQUIRE(expected.ok());
  CHECK(alone.parallel_runs == 0);
  std::map<std::string, Executor> executors = OddExecutors();
  executors["threads of the machine"] = nullptr;
  for (const auto& [name, executor] : executors) {
    CAPTURE(name);
    TestEnvironment environment;
    environment.executor = executor;
    CHECK(link(environment, 2).cubin == expected.cubin);
    CHECK(link(environment, 8).cubin == expected.cubin);
    CHECK(environment.parallel_runs == 2);
  }
}

TEST_CASE("A few inputs are read without threads", "[session]") {
  TestEnvironment environment;
  std::vector<std::string> paths;
  FillFiles(environment, paths);
  paths.resize(4);
  LinkSession session = SessionIn(environment, 8);
  CHECK(session.AddFiles({}).ok());
  CHECK(session.AddInputs({}).ok());
  CHECK(session.AddFiles(paths).ok());
  CHECK(environment.parallel_runs == 0);
  const LinkOutcome outcome = session.Link();
  CAPTURE(Texts(outcome.diagnostics));
  CHECK(outcome.ok());
}

TEST_CASE("Where the environment says stop, no input is added", "[session]") {
  TestEnvironment environment;
  std::vector<std::string> paths;
  FillFiles(environment, paths);
  LinkSession session = SessionIn(environment, 8);
  environment.stop.request_stop();
  CHECK(absl::IsCancelled(session.AddFiles(paths)));
  environment.stop = std::stop_source();
  CHECK(session.diagnostics().empty());
  CHECK(session.Link().report.inputs == 0);
}

TEST_CASE("What an input takes of memory is given back with the last session that has it",
          "[session]") {
  const Cubin cubin = BuildCubin({.functions = {{.name = "k", .kernel = true}}});
  const TestEnvironment environment(2 * cubin.size() - 1);
  {
    LinkSession session = SessionIn(environment, 1);
    REQUIRE(session.AddCubin("a", cubin).ok());
    CHECK(environment.memory.used() == cubin.size());
    const absl::Status status = session.AddInput("b.cubin", Cubin(cubin));
    CHECK(absl::IsResourceExhausted(status));
    CHECK(session.diagnostics().back().input == "b.cubin");
    CHECK(absl::IsResourceExhausted(session.AddCubin("c", Cubin(cubin))));
    const LinkSession copy = session;
    session = SessionIn(environment, 1);
    CHECK(environment.memory.used() == cubin.size());
    CHECK(copy.Link().ok());
  }
  CHECK(environment.memory.used() == 0);
}

// Where lines of a log come from.
class ThreadsOfLog : public LogSink {
 public:
  [[nodiscard]] bool Wants(LogLevel /*level*/) const override { return true; }
  void Write(LogLevel /*level*/, std::string_view /*line*/) override {
    is_callers &= std::this_thread::get_id() == caller_;
    ++lines;
  }
  bool is_callers = true;
  int lines = 0;

 private:
  std::thread::id caller_ = std::this_thread::get_id();
};

// While one thread describes the output, another makes room for it; then all make parts of it.
TEST_CASE("The sink of a large output hears of it before it is written", "[session]") {
  constexpr std::uint32_t kLarge = 9 << 20;
  const auto link = [](std::uint32_t bytes, unsigned threads, const Executor& executor) {
    TestEnvironment environment;
    environment.executor = executor;
    ThreadsOfLog log;
    LinkSession session =
        *LinkSession::Create({.target = {.number = 80}, .parallel = {.threads = threads}},
                             {.environment = &environment, .log = &log});
    const Cubin cubin =
        BuildCubin({.functions = {{.name = "k", .kernel = true}}, .global_bytes = bytes});
    REQUIRE(session.AddCubin("a", cubin).ok());
    RecordingSink sink;
    REQUIRE(session.LinkTo(sink).ok());
    CHECK(sink.announced == sink.bytes.size());
    CHECK((sink.bytes == session.Link().cubin));
    CHECK_FALSE(sink.expected_too_late);
    CHECK(sink.is_callers);
    CHECK(log.lines > 0);
    CHECK(log.is_callers);
    return sink;
  };
  for (const auto& [name, executor] : OddExecutors()) {
    CAPTURE(name);
    const RecordingSink large = link(kLarge, 3, executor);
    CHECK(large.expectations <= 1);
    if (name == "only the first") CHECK(large.expectations == 0);
    // Else the first may be done before another is there.
    if (name != "one after the other, last one first") continue;
    CHECK(large.expectations == 1);
    CHECK(large.expected >= kLarge);
    CHECK(large.expected <= large.announced);
    CHECK(link(kLarge >> 4, 3, executor).expectations == 0);
  }
  CHECK(link(kLarge, 1, nullptr).expectations == 0);  // room is as good when it is needed
}

}  // namespace
}  // namespace devlink::testing
