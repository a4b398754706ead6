// SPDX-License-Identifier: Apache-2.0
#include "base/leb128.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/bounded_reader.h"
#include "support/catch.h"

namespace devlink::base {
namespace {

using Encoded = std::vector<std::uint8_t>;

std::optional<std::uint64_t> Unsigned(const Encoded& bytes) {
  std::uint64_t at = 0;
  std::uint64_t out = 0;
  if (!ReadLeb128(BoundedReader(bytes), at, out)) return std::nullopt;
  CHECK(at == bytes.size());
  return out;
}

std::optional<std::int64_t> Signed(const Encoded& bytes) {
  std::uint64_t at = 0;
  std::int64_t out = 0;
  if (!ReadSignedLeb128(BoundedReader(bytes), at, out)) return std::nullopt;
  CHECK(at == bytes.size());
  return out;
}

// DWARF 2, figures 13 and 14.
TEST_CASE("Numbers of variable length are those of the standard's examples", "[base]") {
  CHECK(Unsigned({2}) == 2);
  CHECK(Unsigned({0x7f}) == 127);
  CHECK(Unsigned({0x80, 1}) == 128);
  CHECK(Unsigned({0xb9, 0x64}) == 12857);
  CHECK(Signed({2}) == 2);
  CHECK(Signed({0x7e}) == -2);
  CHECK(Signed({0xff, 0}) == 127);
  CHECK(Signed({0x81, 0x7f}) == -127);
  CHECK(Signed({0x80, 0x7f}) == -128);
}

TEST_CASE("Numbers of variable length come back as they were written", "[base]") {
  for (int bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t more : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
      const std::uint64_t number = (std::uint64_t{1} << bit) + more;
      Encoded plain;
      AppendLeb128(plain, number);
      CHECK(Unsigned(plain) == number);
      for (const auto with_sign :
           {static_cast<std::int64_t>(number), static_cast<std::int64_t>(~number)}) {
        Encoded with;
        AppendSignedLeb128(with, with_sign);
        CHECK(Signed(with) == with_sign);
        // None is longer than it must be.
        const auto magnitude = static_cast<std::uint64_t>(with_sign < 0 ? ~with_sign : with_sign);
        CHECK(with.size() == (std::bit_width(magnitude) + 1 + 6) / std::size_t{7});
      }
    }
  }
}

TEST_CASE("A number of variable length that is cut short or too long is none", "[base]") {
  Encoded whole;
  AppendLeb128(whole, std::numeric_limits<std::uint64_t>::max());
  REQUIRE(whole.size() == 10);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Encoded cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE(Unsigned(cut).has_value());
    CHECK_FALSE(Signed(cut).has_value());
  }
  const Encoded eleven = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0};
  CHECK_FALSE(Unsigned(eleven).has_value());
  CHECK_FALSE(Signed(eleven).has_value());
}

}  // namespace
}  // namespace devlink::base
