// SPDX-License-Identifier: Apache-2.0
#include "merge/constant_packing.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

using Offset = std::optional<std::uint64_t>;

// Pieces of a bank, each of one byte's value.
class Packing {
 public:
  Packing& Add(std::size_t size, std::uint32_t align, std::uint8_t fill) {
    pieces_.emplace_back(size, fill);
    packing_.Add(pieces_.back(), align);
    return *this;
  }
  [[nodiscard]] Offset last() const { return packing_.last(); }

 private:
  std::deque<std::vector<std::uint8_t>> pieces_;
  internal::ConstantPacking packing_;
};

TEST_CASE("The last piece that was placed leaves its offset", "[merge]") {
  CHECK(Packing().last() == Offset());
  CHECK(Packing().Add(4, 4, 1).last() == Offset(0));
  CHECK(Packing().Add(4, 4, 1).Add(8, 8, 2).last() == Offset(8));
  CHECK(Packing().Add(64, 4, 1).Add(12, 16, 2).last() == Offset(64));
}

TEST_CASE("A piece that equals an earlier one is not placed", "[merge]") {
  CHECK(Packing().Add(4, 4, 1).Add(4, 4, 2).Add(4, 4, 1).last() == Offset(4));
  // It takes no room either.
  CHECK(Packing().Add(4, 4, 1).Add(4, 4, 1).Add(4, 4, 2).last() == Offset(4));
  // Alignment counts.
  CHECK(Packing().Add(16, 4, 1).Add(16, 8, 1).last() == Offset(16));
}

TEST_CASE("A number that is 0 is placed each time", "[merge]") {
  CHECK(Packing().Add(4, 4, 0).Add(4, 4, 0).last() == Offset(4));
  CHECK(Packing().Add(8, 8, 0).Add(4, 4, 0).Add(8, 8, 0).Add(4, 4, 0).last() == Offset(24));
  CHECK(Packing().Add(8, 8, 5).Add(8, 8, 0).Add(8, 8, 5).Add(8, 8, 0).last() == Offset(16));
  CHECK(Packing().Add(12, 4, 0).Add(12, 4, 0).last() == Offset(0));  // no number
}

TEST_CASE("Pieces of other sizes take their room and leave no offset", "[merge]") {
  for (const std::size_t size : {1, 2, 5, 28, 36, 40, 56, 65, 128}) {
    CAPTURE(size);
    CHECK(Packing().Add(size, 4, 1).last() == Offset());
    // Each of two equal ones.
    const Offset behind = Packing().Add(size, 4, 1).Add(size, 4, 1).Add(4, 4, 2).last();
    const std::size_t rounded = (size + 3) / 4 * 4;
    CHECK(behind == Offset(rounded + (size + 3) / 4 * 4));
  }
  for (const std::size_t size : {12, 16, 20, 24, 32, 48, 64}) {
    CAPTURE(size);
    CHECK(Packing().Add(size, 64, 1).last() == Offset(0));
  }
}

TEST_CASE("Words count only at their own alignment", "[merge]") {
  CHECK(Packing().Add(4, 4, 1).Add(4, 8, 2).last() == Offset(0));
  CHECK(Packing().Add(8, 8, 1).Add(8, 4, 2).last() == Offset(0));
  CHECK(Packing().Add(4, 4, 1).Add(8, 16, 2).Add(4, 4, 3).last() == Offset(24));
}

}  // namespace
}  // namespace devlink::testing
