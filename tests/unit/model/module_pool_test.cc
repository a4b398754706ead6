// SPDX-License-Identifier: Apache-2.0
#include "devlink/module_pool.h"

#include <set>
#include <span>
#include <thread>
#include <vector>

#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

Cubin Numbered(int number) {
  return BuildCubin({.functions = {{.name = "f" + std::to_string(number), .entry = true}}});
}

TEST_CASE("Equal bytes are one module", "[pool]") {
  ModulePool pool;
  const Cubin a = Numbered(1);
  const auto first = pool.AddCubin(a);
  const auto second = pool.AddCubin(std::span<const std::uint8_t>(a));
  const auto third = pool.AddCubin(Numbered(1));
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  REQUIRE(third.ok());
  CHECK(*first == *second);
  CHECK(*first == *third);
  CHECK(pool.size() == 1);
  CHECK(pool.bytes() == a.size());
  REQUIRE(pool.AddCubin(Numbered(2)).ok());
  CHECK(pool.size() == 2);
}

TEST_CASE("What cannot be read is not held", "[pool]") {
  ModulePool pool;
  CHECK(pool.AddCubin(Cubin(100, 1)).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(pool.AddCubin(Cubin()).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(pool.size() == 0);
  CHECK(pool.bytes() == 0);
}

TEST_CASE("A module outlives its pool", "[pool]") {
  ModuleRef module;
  {
    ModulePool pool;
    module = *pool.AddCubin(Numbered(1));
  }
  CHECK(module.use_count() == 1);
}

TEST_CASE("Threads that add the same modules get the same modules", "[pool]") {
  constexpr int kThreads = 8;
  constexpr int kModules = 24;
  ModulePool pool;
  std::vector<std::vector<ModuleRef>> found(kThreads);
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&pool, &found, t] {
        for (int i = 0; i < kModules; ++i) {
          // Each thread begins elsewhere.
          auto module = pool.AddCubin(Numbered((i + t * 3) % kModules));
          if (module.ok()) found[static_cast<std::size_t>(t)].push_back(*std::move(module));
        }
      });
    }
  }
  CHECK(pool.size() == kModules);
  std::set<ModuleRef> distinct;
  for (const auto& list : found) {
    CHECK(list.size() == kModules);
    distinct.insert(list.begin(), list.end());
  }
  CHECK(distinct.size() == kModules);
}

}  // namespace
}  // namespace devlink::testing
