// SPDX-License-Identifier: Apache-2.0
//
// The program is that of tests/golden/mercury: Sum calls far, Twice and Jump; Indirect calls far or
// Taken by a pointer; far, of another file, uses shared memory of its file.
#include "finalize/needed_code.h"

#include <string_view>
#include <vector>

#include "model/module.h"
#include "support/catch.h"
#include "support/mercury_golden.h"

namespace devlink::testing {
namespace {

using internal::CodeCall;
using internal::CodeNames;
using internal::Module;
using internal::NeededCode;

using golden_code::kDynamic;
using golden_code::kFar;
using golden_code::kIndirect;
using golden_code::kJump;
using golden_code::kSum;
using golden_code::kTaken;
using golden_code::kTwice;
using golden_code::kUnused;

class Both {
 public:
  Both() {
    for (const char* const name : {"first.cubin", "second.cubin"}) {
      auto module = Module::Load(MercuryGolden(name));
      REQUIRE(module.ok());
      modules_.push_back(*std::move(module));
    }
  }
  [[nodiscard]] NeededCode Needs(std::initializer_list<std::string_view> stays) const {
    CodeNames names;
    for (const std::string_view name : stays) names.insert(name);
    const std::vector<const Module*> modules = {modules_[0].get(), modules_[1].get()};
    return NeededCode(modules, names);
  }

 private:
  std::vector<ModuleRef> modules_;
};

constexpr std::initializer_list<std::string_view> kAll = {kSum,   kDynamic, kIndirect, kFar,
                                                          kTaken, kJump,    kTwice};

bool Has(const NeededCode& needs, std::string_view part, std::string_view code) {
  const auto needed = needs.Of(std::vector{part});
  REQUIRE(needed.has_value());
  return needed->contains(code);
}

TEST_CASE("Code needs what it calls, in whichever file", "[finalize]") {
  const Both program;
  const NeededCode needs = program.Needs(kAll);
  for (const std::string_view code : {kSum, kFar, kJump, kTwice}) CHECK(Has(needs, kSum, code));
  CHECK_FALSE(Has(needs, kSum, kDynamic));
  CHECK_FALSE(Has(needs, kSum, kUnused));
  CHECK_FALSE(Has(needs, kDynamic, kSum));
  CHECK_FALSE(Has(needs, kDynamic, kJump));
  // Variables point to these; what calls by a pointer is needed, too.
  for (const std::string_view code : {kFar, kTaken, kIndirect}) CHECK(Has(needs, kDynamic, code));
}

TEST_CASE("Code needs whoever keeps it", "[finalize]") {
  const Both program;
  NeededCode needs = program.Needs(kAll);
  CHECK_FALSE(Has(needs, kJump, kSum));
  needs.NeedCallers(std::vector{CodeCall{.code = kJump, .caller = kSum}});
  CHECK(Has(needs, kJump, kSum));
  CHECK_FALSE(Has(needs, kDynamic, kSum));
  // What is only needed there stays by whoever needs it.
  needs.AlwaysNeed(kJump);
  CHECK(Has(needs, kDynamic, kJump));
  CHECK_FALSE(Has(needs, kDynamic, kSum));
  needs.AlwaysNeed(kSum);
  CHECK(Has(needs, kDynamic, kSum));
}

TEST_CASE("Where a kernel that goes is needed there is no answer", "[finalize]") {
  const Both program;
  // Indirect is always needed, and is not among what stays.
  const NeededCode needs = program.Needs({kSum, kDynamic, kFar, kTaken, kJump, kTwice});
  CHECK_FALSE(needs.Of(std::vector{kDynamic}).has_value());
}

}  // namespace
}  // namespace devlink::testing
