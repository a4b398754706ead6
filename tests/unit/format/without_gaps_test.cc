// SPDX-License-Identifier: Apache-2.0
//
// Bytes that no section has go, and sections find theirs.
#include "format/without_gaps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/bounded_reader.h"
#include "format/elf_cuda.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using format::WithoutGaps;
using Bytes = std::vector<std::uint8_t>;

// Sections of a file of 4,096 bytes, each of which is another, with the headers behind it.
Bytes FileOf(const std::vector<format::Shdr>& sections) {
  Bytes out(4096);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  format::Ehdr header = {};
  header.shoff = out.size();
  header.shnum = static_cast<std::uint16_t>(sections.size());
  std::memcpy(out.data(), &header, sizeof(header));
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(sections.data());
  out.insert(out.end(), begin, begin + sections.size() * sizeof(format::Shdr));
  return out;
}

format::Shdr SectionOf(std::uint32_t type, std::uint64_t offset, std::uint64_t size) {
  format::Shdr out = {};
  out.type = type;
  out.offset = offset;
  out.size = size;
  out.addralign = 128;
  return out;
}

format::Shdr SectionAt(const Bytes& file, std::size_t number) {
  const base::BoundedReader reader(file);
  const auto header = reader.ReadOrZero<format::Ehdr>(0);
  return reader.ReadOrZero<format::Shdr>(header.shoff + number * sizeof(format::Shdr));
}

TEST_CASE("Sections have their bytes in a file without gaps", "[finalize]") {
  const std::vector<format::Shdr> sections = {
      {},
      SectionOf(format::kShtProgbits, 2000, 300),
      SectionOf(format::kShtProgbits, 130, 10),
      SectionOf(format::kShtProgbits, 2100, 50),       // of the same bytes
      SectionOf(format::kShtNobits, 3000, 1U << 30U),  // that takes no room
      SectionOf(format::kShtProgbits, 2300, 4),        // right behind another
      SectionOf(format::kShtProgbits, 3500, 0),
  };
  const Bytes before = FileOf(sections);
  const Bytes after = WithoutGaps(before);
  CHECK(after.size() < sizeof(format::Ehdr) + 314 + 3 * 128 + 8 + 7 * sizeof(format::Shdr));
  for (std::size_t i = 1; i < sections.size(); ++i) {
    const format::Shdr section = SectionAt(after, i);
    CHECK(section.type == sections[i].type);
    CHECK(section.size == sections[i].size);
    if (section.type == format::kShtNobits || section.size == 0) continue;
    CHECK(section.offset % 128 == sections[i].offset % 128);
    const auto bytes = base::BoundedReader(after).Slice(section.offset, section.size);
    const auto old = base::BoundedReader(before).Slice(sections[i].offset, sections[i].size);
    REQUIRE(bytes.has_value());
    CHECK(std::ranges::equal(*bytes, *old));
  }
  CHECK(SectionAt(after, 3).offset - SectionAt(after, 1).offset == 100);
  CHECK(SectionAt(after, 5).offset - SectionAt(after, 1).offset == 300);
  CHECK(WithoutGaps(after) == after);
}

TEST_CASE("The number of sections may stand in the first of them", "[finalize]") {
  Bytes wide =
      FileOf({SectionOf(format::kShtNull, 0, 3), SectionOf(format::kShtProgbits, 2000, 300),
              SectionOf(format::kShtProgbits, 1000, 10)});
  constexpr std::uint16_t kElsewhere = 0;
  std::memcpy(wide.data() + offsetof(format::Ehdr, shnum), &kElsewhere, sizeof(kElsewhere));
  const Bytes after = WithoutGaps(wide);
  CHECK(after.size() < 1000);
  CHECK(SectionAt(after, 0).size == 3);
  const auto bytes = base::BoundedReader(after).Slice(SectionAt(after, 1).offset, 300);
  REQUIRE(bytes.has_value());
  CHECK(std::ranges::equal(*bytes, *base::BoundedReader(wide).Slice(2000, 300)));
}

TEST_CASE("Sections lie as close as their alignment allows", "[finalize]") {
  std::vector<format::Shdr> sections = {{},
                                        SectionOf(format::kShtProgbits, 2002, 3),
                                        SectionOf(format::kShtProgbits, 3000, 5),
                                        SectionOf(format::kShtProgbits, 3500, 7)};
  sections[1].addralign = 1;
  sections[2].addralign = 8;
  sections[3].addralign = 0;
  const Bytes after = WithoutGaps(FileOf(sections));
  CHECK(SectionAt(after, 1).offset == sizeof(format::Ehdr));
  CHECK(SectionAt(after, 2).offset == sizeof(format::Ehdr) + 8);
  CHECK(SectionAt(after, 3).offset == sizeof(format::Ehdr) + 13);
}

TEST_CASE("A file that is not understood stays", "[finalize][damage]") {
  const Bytes outside = FileOf({{}, SectionOf(format::kShtProgbits, 4000, ~std::uint64_t{0})});
  CHECK(WithoutGaps(outside) == outside);
  Bytes headers = FileOf({{}, SectionOf(format::kShtProgbits, 2000, 8)});
  headers.pop_back();
  CHECK(WithoutGaps(headers) == headers);
  const Bytes none = FileOf({});
  CHECK(WithoutGaps(none) == none);
  CHECK(WithoutGaps({}).empty());
}

}  // namespace
}  // namespace devlink::testing
