// SPDX-License-Identifier: Apache-2.0
//
// The finalizer's file with our names and attributes is the file that would have been written with
// them.
#include "finalize/own_records.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/linked_file.h"

namespace devlink::testing {
namespace {

using internal::WithOwnRecords;
using Bytes = std::vector<std::uint8_t>;

TEST_CASE("Names that only we leave behind move the names behind them", "[finalize]") {
  const Bytes own = WriteLinkedFile({.tool = "ours", .with_names = true});
  const auto joined = WithOwnRecords(WriteLinkedFile({.tool = "theirs"}), own);
  INFO(joined.status().message());
  REQUIRE(joined.ok());
  CHECK(*joined == WriteLinkedFile({.tool = "theirs", .with_names = true}));
  // And back.
  const auto without = WithOwnRecords(own, WriteLinkedFile({.tool = "theirs"}));
  INFO(without.status().message());
  REQUIRE(without.ok());
  CHECK(*without == WriteLinkedFile({.tool = "ours"}));
}

TEST_CASE("Attributes are ours, but for places in code", "[finalize]") {
  const LinkedRecords own = RecordsOfOne();
  LinkedRecords theirs = own;
  theirs.module.resize(24, 9);  // a record that we do not have
  theirs.kernel.resize(8);      // no NUM_BARRIERS,
  theirs.kernel[4] = 0x50;      // and an exit elsewhere
  theirs.mercury = {2, 0x4c, 7, 0, 1, 2, 0, 0};
  LinkedRecords expected = own;
  expected.kernel[4] = 0x50;
  const auto joined =
      WithOwnRecords(WriteLinkedFile({.records = theirs}), WriteLinkedFile({.records = own}));
  INFO(joined.status().message());
  REQUIRE(joined.ok());
  CHECK(*joined == WriteLinkedFile({.records = expected}));
}

TEST_CASE("What later assemblers say of machine code alone goes where the finalizer has none of it",
          "[finalize]") {
  const LinkedRecords plain = RecordsOfOne();
  for (const std::uint8_t id : {0x6b, 0x6d}) {
    LinkedRecords own = plain;
    own.kernel.insert(own.kernel.end(), {3, id, 1, 0});
    const auto join = [&](const LinkedRecords& theirs) {
      auto joined =
          WithOwnRecords(WriteLinkedFile({.records = theirs}), WriteLinkedFile({.records = own}));
      REQUIRE(joined.ok());
      return *std::move(joined);
    };
    CHECK(join(plain) == WriteLinkedFile({.records = plain}));
    CHECK(join(own) == WriteLinkedFile({.records = own}));
  }
}

TEST_CASE("Attributes of files that do not belong together are not joined", "[finalize]") {
  const Bytes own = WriteLinkedFile({.records = RecordsOfOne()});
  CHECK_FALSE(WithOwnRecords(WriteLinkedFile({}), own).ok());  // other sections
  CHECK_FALSE(WithOwnRecords(own, WriteLinkedFile({})).ok());
  CHECK_FALSE(WithOwnRecords({}, own).ok());
  CHECK_FALSE(WithOwnRecords(own, {}).ok());
  LinkedRecords other = RecordsOfOne();
  SECTION("another number of places in code") {
    other.kernel.insert(other.kernel.end(), {4, 0x1c, 4, 0, 0x60, 0, 0, 0});
  }
  SECTION("a record that is cut off") { other.kernel.resize(6); }
  CHECK_FALSE(WithOwnRecords(WriteLinkedFile({.records = other}), own).ok());
  CHECK_FALSE(WithOwnRecords(own, WriteLinkedFile({.records = other})).ok());
}

}  // namespace
}  // namespace devlink::testing
