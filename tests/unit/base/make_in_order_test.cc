// SPDX-License-Identifier: Apache-2.0
#include "base/make_in_order.h"

#include <atomic>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "support/catch.h"
#include "support/test_environment.h"

namespace devlink::testing {
namespace {

std::map<std::string, Executor> Executors() {
  std::map<std::string, Executor> out = OddExecutors();
  out["the machine's threads"] = nullptr;
  return out;
}

TEST_CASE("Each piece is made once and taken in order on the calling thread", "[base]") {
  for (const auto& [name, executor] : Executors()) {
    TestEnvironment environment;
    environment.executor = executor;
    for (const unsigned workers : {0U, 1U, 2U, 3U, 8U}) {
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{300}}) {
        CAPTURE(name, workers, count);
        std::vector<std::atomic<int>> made(count);
        std::vector<std::size_t> taken;
        bool on_this_thread = true;
        const std::thread::id caller = std::this_thread::get_id();
        const auto make = [&](std::size_t i, std::string& piece) {
          ++made[i];
          piece = std::to_string(i);
        };
        const auto take = [&](std::size_t i, std::string& piece) {
          on_this_thread &= std::this_thread::get_id() == caller;
          CHECK(piece == std::to_string(i));
          taken.push_back(i);
          return absl::OkStatus();
        };
        CHECK(base::MakeInOrder<std::string>(environment, workers, count, make, take).ok());
        CHECK(on_this_thread);
        REQUIRE(taken.size() == count);
        for (std::size_t i = 0; i < count; ++i) {
          CHECK(taken[i] == i);
          CHECK(made[i] == 1);
        }
      }
    }
  }
}

TEST_CASE("The first error of what takes pieces ends all of it", "[base]") {
  for (const auto& [name, executor] : Executors()) {
    TestEnvironment environment;
    environment.executor = executor;
    CAPTURE(name);
    std::size_t taken = 0;
    const auto make = [](std::size_t i, std::size_t& piece) { piece = i; };
    const auto take = [&](std::size_t i, std::size_t& /*piece*/) {
      ++taken;
      return i == 7 ? absl::DataLossError("full") : absl::OkStatus();
    };
    const absl::Status status = base::MakeInOrder<std::size_t>(environment, 3, 300, make, take);
    CHECK(status.code() == absl::StatusCode::kDataLoss);
    CHECK(taken == 8);
  }
}

TEST_CASE("What is thrown while a piece is made or taken comes to the caller", "[base]") {
  for (const auto& [name, executor] : Executors()) {
    TestEnvironment environment;
    environment.executor = executor;
    for (const bool in_make : {true, false}) {
      CAPTURE(name, in_make);
      const auto make = [&](std::size_t i, int& /*piece*/) {
        if (in_make && i == 20) throw std::runtime_error("made");
      };
      const auto take = [&](std::size_t i, int& /*piece*/) {
        if (!in_make && i == 20) throw std::runtime_error("taken");
        return absl::OkStatus();
      };
      std::string thrown;
      try {
        base::MakeInOrder<int>(environment, 2, 300, make, take).IgnoreError();
      } catch (const std::runtime_error& error) {
        thrown = error.what();
      }
      CHECK(thrown == (in_make ? "made" : "taken"));
    }
  }
}

}  // namespace
}  // namespace devlink::testing
