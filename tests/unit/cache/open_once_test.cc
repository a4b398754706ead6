// SPDX-License-Identifier: Apache-2.0
#include "cache/open_once.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace devlink::internal {
namespace {

using Opened = absl::StatusOr<std::unique_ptr<int>>;

TEST_CASE("What failed to open is tried again", "[cache]") {
  int attempts = 0;
  OpenOnce<int> once([&]() -> Opened {
    if (++attempts < 3) return absl::NotFoundError("not there yet");
    return std::make_unique<int>(attempts);
  });
  CHECK(once.Get().status().message() == "not there yet");
  CHECK_FALSE(once.Get().ok());
  CHECK(once.opened() == nullptr);
  REQUIRE(once.Get().ok());
  CHECK(**once.Get() == 3);
  CHECK(attempts == 3);
  CHECK(once.opened() == *once.Get());
}

TEST_CASE("Nobody waits to hear what is open", "[cache]") {
  std::promise<void> begun;
  std::promise<void> go_on;
  OpenOnce<int> once([&]() -> Opened {
    begun.set_value();
    go_on.get_future().wait();
    return std::make_unique<int>(1);
  });
  std::jthread opener([&] { (void)once.Get(); });
  begun.get_future().wait();
  auto asked = std::async(std::launch::async, [&] { return once.opened(); });
  const bool answered = asked.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  go_on.set_value();
  CHECK(answered);
  CHECK(once.Get().ok());
}

TEST_CASE("Whoever waits has the answer of the attempt that was under way", "[cache]") {
  std::atomic<int> attempts = 0;
  OpenOnce<int> once([&]() -> Opened {
    ++attempts;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return std::make_unique<int>(1);
  });
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { (void)once.Get(); });
  threads.clear();
  CHECK(attempts == 1);
}

TEST_CASE("An exception while a tool is opened leaves nobody waiting", "[cache]") {
  int attempts = 0;
  OpenOnce<int> once([&]() -> Opened {
    if (++attempts == 1) throw std::runtime_error("no memory");
    return std::make_unique<int>(1);
  });
  CHECK_THROWS(once.Get());
  CHECK(once.Get().ok());
}

}  // namespace
}  // namespace devlink::internal
