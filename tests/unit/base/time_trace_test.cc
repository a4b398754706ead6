// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/time_trace.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

using std::chrono::nanoseconds;

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A clock that goes on by a microsecond and a half with every look at it.
TimeTrace::Clock SteppingClock() {
  return [now = nanoseconds(7'000'000)]() mutable { return now += nanoseconds(1500); };
}

TEST_CASE("Spans are written in Chrome's trace format", "[time]") {
  TimeTrace trace(SteppingClock());
  {
    const TimeSpan link(&trace, "link");
    const TimeSpan merge(&trace, "merge", "a.cubin");
  }
  CHECK(trace.Json() == R"({"displayTimeUnit": "ms", "traceEvents": [
{"ph": "X", "pid": 1, "tid": 0, "ts": 1.500, "dur": 4.500, "name": "link"},
{"ph": "X", "pid": 1, "tid": 0, "ts": 3.000, "dur": 1.500, "name": "merge", "args": {"detail": "a.cubin"}}
]}
)");
}

TEST_CASE("A trace without spans is one all the same", "[time]") {
  CHECK(TimeTrace(SteppingClock()).Json() ==
        "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n]}\n");
}

TEST_CASE("Names may hold any bytes", "[time]") {
  TimeTrace trace(SteppingClock());
  trace.Add("a\"\\\n\x01", "\xff|\xc3\xa4", nanoseconds(0), nanoseconds(0));
  CHECK(Contains(trace.Json(), R"("name": "a\"\\\u000a\u0001")"));
  CHECK(Contains(trace.Json(), "{\"detail\": \"\xef\xbf\xbd|\xc3\xa4\"}"));
}

TEST_CASE("A clock that goes back makes no negative times", "[time]") {
  TimeTrace trace(SteppingClock());
  trace.Add("span", "", nanoseconds(2000), nanoseconds(1000));
  CHECK(Contains(trace.Json(), "\"ts\": 2.000, \"dur\": 0.000"));
}

TEST_CASE("A trace's time begins with the trace", "[time]") {
  const TimeTrace trace(SteppingClock());
  const nanoseconds first = trace.Now();
  CHECK(first > nanoseconds(0));
  CHECK(trace.Now() > first);
}

TEST_CASE("Threads record into one trace", "[time]") {
  TimeTrace trace;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&trace] {
      for (int n = 0; n < 100; ++n) const TimeSpan span(&trace, "work");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string json = trace.Json();
  std::size_t spans = 0;
  for (std::size_t at = 0; (at = json.find("\"work\"", at)) != std::string::npos; ++at) ++spans;
  CHECK(spans == 400);
  CHECK(Contains(json, "\"tid\": 3"));
  CHECK(!Contains(json, "\"tid\": 4"));
}

TEST_CASE("Without a trace no clock is read", "[time]") {
  const TimeSpan span(nullptr, "nothing");
  SUCCEED();
}

}  // namespace
}  // namespace devlink::testing
