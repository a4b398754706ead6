// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "devlink/module.h"
#include "model/module.h"
#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

Cubin Numbered(int number) {
  return BuildCubin({.functions = {{.name = "f" + std::to_string(number), .kernel = true}}});
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

TEST_CASE("What cannot be read is not kept", "[pool]") {
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

TEST_CASE("A pool forgets what was not used for longest", "[pool]") {
  const std::uint64_t size = Numbered(1).size();
  ModulePool pool({.max_bytes = 3 * size});
  for (const int number : {1, 2, 3}) REQUIRE(pool.AddCubin(Numbered(number)).ok());
  REQUIRE(pool.AddCubin(Numbered(1)).ok());  // 2 is the oldest now
  REQUIRE(pool.AddCubin(Numbered(4)).ok());
  CHECK(pool.size() == 3);
  CHECK(pool.bytes() == 3 * size);
  CHECK(pool.use().forgotten == 1);
  const auto misses = pool.use().misses;
  for (const int number : {1, 3, 4}) REQUIRE(pool.AddCubin(Numbered(number)).ok());
  CHECK(pool.use().misses == misses);
  REQUIRE(pool.AddCubin(Numbered(2)).ok());
  CHECK(pool.use().misses == misses + 1);
}

TEST_CASE("A pool does not forget what is in use", "[pool]") {
  const std::uint64_t size = Numbered(1).size();
  ModulePool pool({.max_bytes = 2 * size});
  std::vector<ModuleRef> in_use;
  for (int i = 1; i <= 6; ++i) in_use.push_back(*pool.AddCubin(Numbered(i)));
  CHECK(pool.size() == 6);
  for (int i = 1; i <= 6; ++i) {
    CHECK(*pool.AddCubin(Numbered(i)) == in_use[static_cast<std::size_t>(i) - 1]);
  }
  in_use.clear();
  REQUIRE(pool.AddCubin(Numbered(7)).ok());
  CHECK(pool.size() == 2);
}

TEST_CASE("Memory stays flat over any number of modules", "[pool]") {
  constexpr int kModules = 10000;
  // Only a name of fixed length differs, so that one cubin can stand for all.
  Cubin cubin = BuildCubin({.functions = {{.name = "f00000", .kernel = true}}});
  std::vector<std::size_t> places;
  const std::string_view name = "f00000";
  for (auto at = cubin.begin();; ++at) {
    at = std::search(at, cubin.end(), name.begin(), name.end());
    if (at == cubin.end()) break;
    places.push_back(static_cast<std::size_t>(at - cubin.begin()));
  }
  REQUIRE_FALSE(places.empty());

  const std::uint64_t budget = 50 * cubin.size();
  ModulePool pool({.max_bytes = budget});
  std::vector<std::weak_ptr<const internal::Module>> made;
  for (int i = 0; i < kModules; ++i) {
    const std::string digits = std::to_string(10000 + i);
    for (const std::size_t at : places) {
      std::copy(digits.begin(), digits.end(), cubin.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    const auto module = pool.AddCubin(std::span<const std::uint8_t>(cubin));
    REQUIRE(module.ok());
    made.push_back(*module);
    if (pool.bytes() > budget) FAIL_CHECK("the pool has " << pool.bytes() << " bytes");
  }
  const auto alive = std::count_if(made.begin(), made.end(), [](auto& m) { return !m.expired(); });
  CHECK(static_cast<std::size_t>(alive) == pool.size());
  CHECK(pool.size() <= 50);
  CHECK(pool.use().misses == kModules);
  CHECK(pool.use().forgotten == kModules - pool.size());
}

TEST_CASE("What is removed stays alive for those who use it", "[pool]") {
  ModulePool pool;
  const ModuleRef one = *pool.AddCubin(Numbered(1));
  const ModuleRef two = *pool.AddCubin(Numbered(2));
  CHECK(pool.Remove(one));
  CHECK_FALSE(pool.Remove(one));
  CHECK_FALSE(pool.Remove(nullptr));
  CHECK(pool.size() == 1);
  CHECK(pool.bytes() == two->bytes().size());
  CHECK(one.use_count() == 1);
  CHECK(std::ranges::equal(one->bytes(), Numbered(1)));
  CHECK(*pool.AddCubin(Numbered(1)) != one);

  pool.Clear();
  CHECK(pool.size() == 0);
  CHECK(pool.bytes() == 0);
  CHECK(two.use_count() == 1);
  CHECK(*pool.AddCubin(Numbered(2)) != two);
  CHECK_FALSE(pool.Remove(two));
  CHECK(pool.use().forgotten == 0);
}

TEST_CASE("A pool with a bound may be used by many threads", "[pool]") {
  const std::uint64_t size = Numbered(10).size();
  ModulePool pool({.max_bytes = 4 * size});
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i) {
          const Cubin cubin = Numbered(10 + (i * 7 + t) % 12);
          const auto module = pool.AddCubin(std::span<const std::uint8_t>(cubin));
          if (!module.ok() || !std::ranges::equal((*module)->bytes(), cubin)) ++wrong;
          if (i % 50 == 0 && module.ok()) pool.Remove(*module);
          if (i % 90 == 0) pool.Clear();
        }
      });
    }
  }
  CHECK(wrong == 0);
  REQUIRE(pool.AddCubin(Numbered(10)).ok());
  CHECK(pool.bytes() <= 4 * size);
  const ModulePoolUse use = pool.use();
  CHECK(use.hits + use.misses == 8 * 200 + 1);
}

}  // namespace
}  // namespace devlink::testing
