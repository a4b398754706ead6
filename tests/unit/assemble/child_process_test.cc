// SPDX-License-Identifier: Apache-2.0
#include "assemble/child_process.h"

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

using internal::ChildOptions;
using internal::ChildResult;
using internal::RunChild;
using std::chrono::milliseconds;

// A shell, and a child of its own that keeps its output open.
const std::vector<std::string> kSlow = {"/bin/sh", "-c",
                                        "echo begun >&2; sleep 600; echo over >&2"};

ChildResult Run(const std::vector<std::string>& argv, const ChildOptions& options) {
  auto result = RunChild(argv, options);
  REQUIRE(result.ok());
  return *std::move(result);
}

milliseconds Since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
}

TEST_CASE("A child's status and text are returned", "[child]") {
  for (const bool stoppable : {false, true}) {
    const std::stop_source source;
    ChildOptions options{.environment = {"A=b"}, .max_text = 8};
    if (stoppable) options.stop = source.get_token();
    const auto result = Run({"/bin/sh", "-c", "echo $A; echo 123456789 >&2; exit 3"}, options);
    CHECK(result.exit_status == 3);
    CHECK(result.signal == 0);
    CHECK_FALSE(result.stopped);
    CHECK_FALSE(result.timed_out);
    CHECK(result.text == "12345678");
    options.with_stdout = true;
    CHECK(Run({"/bin/sh", "-c", "echo $A"}, options).text == "b\n");
  }
  CHECK(absl::IsUnavailable(RunChild({"/no/such/program"}, {}).status()));
}

TEST_CASE("A child that takes too long is killed with its children", "[child]") {
  const auto begin = std::chrono::steady_clock::now();
  const auto result = Run(kSlow, {.timeout = milliseconds(300), .max_text = 100});
  CHECK(result.timed_out);
  CHECK_FALSE(result.stopped);
  CHECK(result.text == "begun\n");
  CHECK(Since(begin) >= milliseconds(300));
  CHECK(Since(begin) < std::chrono::seconds(60));
}

TEST_CASE("A child is killed when the caller asks to stop", "[child]") {
  const auto begin = std::chrono::steady_clock::now();
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(300));
    source.request_stop();
  });
  const auto result = Run(kSlow, {.stop = source.get_token(), .max_text = 100});
  CHECK(result.stopped);
  CHECK_FALSE(result.timed_out);
  CHECK(result.signal == 9);
  CHECK(Since(begin) >= milliseconds(300));
  CHECK(Since(begin) < std::chrono::seconds(60));
  // One that closes its output and goes on, too.
  std::stop_source second;
  std::jthread second_stopper([&] {
    std::this_thread::sleep_for(milliseconds(300));
    second.request_stop();
  });
  CHECK(Run({"/bin/sh", "-c", "exec 2>&- ; sleep 600"}, {.stop = second.get_token()}).stopped);
}

TEST_CASE("A stop that was asked for before ends a child at once", "[child]") {
  std::stop_source source;
  source.request_stop();
  CHECK(Run(kSlow, {.stop = source.get_token(), .max_text = 100}).stopped);
}

}  // namespace
}  // namespace devlink::testing
