// SPDX-License-Identifier: Apache-2.0
//
// Catch2, version 3 or 2, and test cases that are made when the program starts: one for each file
// of a directory, so that each is counted and can be run by its name.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#define DEVLINK_CATCH_VERSION 3
#else
#include <catch2/catch.hpp>
#define DEVLINK_CATCH_VERSION 2
#endif

#include <functional>
#include <string>
#include <utility>
#include <vector>

// Leaves a test out, and says so. Only version 3 counts such tests by themselves.
#if DEVLINK_CATCH_VERSION == 3
#define DEVLINK_SKIP(reason) SKIP(reason)
#else
#define DEVLINK_SKIP(reason)  \
  do {                        \
    WARN("SKIPPED: " reason); \
    return;                   \
  } while (false)
#endif

namespace devlink::testing {

// Functions that main() calls before the run; each may add test cases.
inline std::vector<void (*)()>& StartHooks() {
  static std::vector<void (*)()> hooks;
  return hooks;
}
struct AtStart {
  explicit AtStart(void (*hook)()) { StartHooks().push_back(hook); }
};

class FunctionInvoker : public Catch::ITestInvoker {
 public:
  explicit FunctionInvoker(std::function<void()> body) : body_(std::move(body)) {}
  void invoke() const override { body_(); }

 private:
  std::function<void()> body_;
};

// As TEST_CASE(name, tags) { body(); }
inline void AddTestCase(const std::string& name, const std::string& tags,
                        std::function<void()> body) {
#if DEVLINK_CATCH_VERSION == 3
  auto invoker = Catch::Detail::make_unique<FunctionInvoker>(std::move(body));
  Catch::AutoReg(std::move(invoker), CATCH_INTERNAL_LINEINFO, Catch::StringRef(),
                 Catch::NameAndTags(name, tags));
#else
  // The registry takes the invoker over.
  Catch::AutoReg(new FunctionInvoker(std::move(body)), CATCH_INTERNAL_LINEINFO, Catch::StringRef(),
                 Catch::NameAndTags(name, tags));
#endif
}

}  // namespace devlink::testing
