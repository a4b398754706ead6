// SPDX-License-Identifier: Apache-2.0
//
// The finalizer may change code. Anything else that it changed makes another program.
#include "finalize/agreement.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "support/catch.h"
#include "support/linked_file.h"

namespace devlink::testing {
namespace {

using internal::Agreement;
using Bytes = std::vector<std::uint8_t>;

// Of what the finalizer made and of our own.
Agreement Compare(const LinkedShape& finalized, const LinkedShape& own) {
  const auto out = internal::CompareWithOwn(WriteLinkedFile(finalized), WriteLinkedFile(own));
  INFO(out.status().message());
  REQUIRE(out.ok());
  return *out;
}

TEST_CASE("Code may be another, and it is said whose", "[finalize]") {
  const LinkedShape own = {.records = RecordsOfOne(), .addend = 8};
  CHECK(Compare(own, own).difference.empty());
  CHECK(Compare(own, own).finalized.empty());

  LinkedShape finalized = own;
  finalized.tool = "theirs";
  finalized.code[16] = 1;
  CHECK(Compare(finalized, own).difference.empty());
  CHECK(Compare(finalized, own).finalized == std::vector<std::string>{"k"});

  // Also longer code, with attributes that say where something lies in it.
  finalized.code.resize(384);
  finalized.records.kernel[4] = 0x50;
  CHECK(Compare(finalized, own).difference.empty());
  CHECK(Compare(finalized, own).finalized == std::vector<std::string>{"k"});
}

TEST_CASE("Places in code that are referred to may have moved", "[finalize]") {
  CHECK(Compare({.addend = 16, .refers_to_kernel = true}, {.addend = 8, .refers_to_kernel = true})
            .difference.empty());
}

TEST_CASE("Entries of jump tables may be other places, but not get lost", "[finalize]") {
  const LinkedShape own = {.table = {0x40, 0, 0x80, 3}};
  CHECK(Compare({.table = {0x60, 0, 0x90, 3}}, own).difference.empty());
  // One that our own file has lost, or that no code reads.
  CHECK(Compare({.table = {0x40, 0x50, 0x80, 3}}, own).difference.empty());
  const std::string lost = "the section '.nv.constant2.k'";
  CHECK(Compare({.table = {0x40, 0, 0, 3}}, own).difference == lost);
  // No places.
  CHECK(Compare({.table = {0x40, 0, 0x80, 4}}, own).difference == lost);
  CHECK(Compare({.table = {0x44, 0, 0x80, 3}}, own).difference == lost);
}

TEST_CASE("Names that nothing bears do not count", "[finalize]") {
  CHECK(Compare({.with_names = true}, {}).difference.empty());
  CHECK(Compare({}, {.with_names = true}).difference.empty());
}

TEST_CASE("Another symbol, variable or reference is another program", "[finalize]") {
  const LinkedShape own = {.addend = 8};
  LinkedShape finalized = own;
  std::string expected;
  SECTION("a kernel") {
    finalized.kernel = "q";
    expected = "the symbol 'k'";
  }
  SECTION("an initial value") {
    finalized.variables[3] = 0;
    expected = "the section '.nv.global.init'";
  }
  SECTION("where a reference leads") {
    finalized.addend = 16;
    expected = "the section '.rela.nv.global.init' (what refers to 'v')";
  }
  SECTION("what a reference leads to") {
    finalized.refers_to_kernel = true;
    expected = "the section '.rela.nv.global.init' (what refers to 'k')";
  }
  CHECK(Compare(finalized, own).difference == expected);
  CHECK(Compare(own, finalized).difference == expected);
}

TEST_CASE("Damage does no harm, and most of it is noticed", "[finalize]") {
  const LinkedShape shape = {.records = RecordsOfOne(), .addend = 8};
  const Bytes own = WriteLinkedFile(shape);
  int refused = 0;
  int different = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    Bytes damaged = own;
    damaged[i] ^= 0xffU;
    const auto out = internal::CompareWithOwn(damaged, own);
    if (!out.ok()) {
      CHECK(absl::IsInvalidArgument(out.status()));
      ++refused;
    } else if (!out->difference.empty()) {
      ++different;
    }
  }
  CHECK(refused > 300);   // headers
  CHECK(different > 80);  // symbols, references, variables
  for (std::size_t size = 0; size < own.size(); size += 7) {
    CHECK_FALSE(internal::CompareWithOwn(Bytes(own.begin(), own.begin() + size), own).ok());
  }
}

}  // namespace
}  // namespace devlink::testing
