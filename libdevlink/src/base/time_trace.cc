// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/time_trace.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/guard.h"
#include "base/json.h"

namespace devlink {

namespace {

std::chrono::nanoseconds SteadyNow() { return std::chrono::steady_clock::now().time_since_epoch(); }

// The format counts in microseconds, with decimals.
std::string Microseconds(std::chrono::nanoseconds time) {
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.count()));
  return absl::StrCat(count / 1000, ".", absl::Dec(count % 1000, absl::kZeroPad3));
}

}  // namespace

TimeTrace::TimeTrace(Clock clock)
    : clock_(clock ? std::move(clock) : Clock(SteadyNow)), start_(clock_()) {}

std::chrono::nanoseconds TimeTrace::Now() const { return clock_() - start_; }

void TimeTrace::Add(std::string_view name, std::string_view detail, std::chrono::nanoseconds begin,
                    std::chrono::nanoseconds end) {
  // Spans end in destructors, also where memory has run out: one without room is lost.
  base::Guard([&] {
    Span span{.name = std::string(name), .detail = std::string(detail), .begin = begin, .end = end};
    const std::thread::id self = std::this_thread::get_id();
    const std::lock_guard lock(mutex_);
    const auto known = std::find(threads_.begin(), threads_.end(), self);
    span.thread = static_cast<std::uint32_t>(known - threads_.begin());
    if (known == threads_.end()) threads_.push_back(self);
    spans_.push_back(std::move(span));
    return absl::OkStatus();
  }).IgnoreError();
}

std::string TimeTrace::Json() const {
  std::vector<Span> spans;
  {
    const std::lock_guard lock(mutex_);
    spans = spans_;
  }
  // A span that contains others ends after them but begins first.
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return std::tie(a.thread, a.begin, b.end) < std::tie(b.thread, b.begin, a.end);
  });
  std::string out = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  const char* separator = "\n";
  for (const Span& span : spans) {
    absl::StrAppend(&out, separator, R"({"ph": "X", "pid": 1, "tid": )", span.thread,
                    ", \"ts\": ", Microseconds(span.begin),
                    ", \"dur\": ", Microseconds(span.end - span.begin),
                    ", \"name\": ", base::JsonString(span.name));
    if (!span.detail.empty()) {
      absl::StrAppend(&out, ", \"args\": {\"detail\": ", base::JsonString(span.detail), "}");
    }
    out += "}";
    separator = ",\n";
  }
  out += "\n]}\n";
  return out;
}

}  // namespace devlink
