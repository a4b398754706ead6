// SPDX-License-Identifier: Apache-2.0
//
// Another linker's file with another record is the file that would have been written with it.
#include "finalize/adopt.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "format/elf_cuda.h"
#include "format/notes.h"
#include "support/catch.h"
#include "support/linked_file.h"

namespace devlink::testing {
namespace {

using internal::Adopt;
using Bytes = std::vector<std::uint8_t>;

Bytes Record(const std::string& tool) {
  return format::EncodeToolRecord({.tool = tool, .version = "1"});
}

TEST_CASE("A file with another record is laid out as if it had been written with it",
          "[finalize]") {
  for (const std::string& tool :
       {std::string("a"), std::string("another"), std::string(700, 'x')}) {
    const Bytes record = Record(tool);
    const auto adopted = Adopt(WriteLinkedFile({}), record);
    INFO(adopted.status().message());
    REQUIRE(adopted.ok());
    CHECK(*adopted == WriteLinkedFile({.tool = tool}));
  }
}

TEST_CASE("Room for which there is no rule stays", "[finalize]") {
  const Bytes record = Record("another tool");
  const Bytes strange = WriteLinkedFile({.room_before_symbols = 77});
  const auto adopted = Adopt(strange, record);
  REQUIRE(adopted.ok());
  CHECK(*adopted == WriteLinkedFile({.tool = "another tool", .room_before_symbols = 77}));
}

TEST_CASE("What is not such a file is refused", "[finalize]") {
  const Bytes record = Record("x");
  const Bytes whole = WriteLinkedFile({});
  CHECK_FALSE(Adopt({}, record).ok());
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    if (Adopt(cut, record).ok()) FAIL_CHECK("cut at " << size);
  }
  Bytes longer = whole;
  longer.resize(longer.size() + 8);
  CHECK_FALSE(Adopt(longer, record).ok());
}

// Every number of the headers, set to others: refused, or a file of a sane size.
TEST_CASE("No number in the finalizer's file leads out of it", "[finalize]") {
  const Bytes record = Record("x");
  const Bytes whole = WriteLinkedFile({});
  format::Ehdr header = {};
  std::memcpy(&header, whole.data(), sizeof(header));
  std::vector<std::uint64_t> places;
  for (std::uint64_t at = 16; at < sizeof(header); at += 2) places.push_back(at);
  for (std::uint64_t at = header.shoff; at + 8 <= whole.size(); at += 4) places.push_back(at);
  int refused = 0;
  for (const std::uint64_t at : places) {
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{1} << 31,
          std::uint64_t{1} << 62, (std::uint64_t{1} << 34) + 1, ~std::uint64_t{0}}) {
      for (const std::size_t width : {std::size_t{2}, std::size_t{8}}) {
        Bytes damaged = whole;
        std::memcpy(damaged.data() + at, &value, width);
        const auto adopted = Adopt(damaged, record);
        refused += adopted.ok() ? 0 : 1;
        if (adopted.ok() && adopted->size() > whole.size() + 4096) {
          FAIL_CHECK(adopted->size() << " bytes for " << value << " at " << at);
        }
      }
    }
  }
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace devlink::testing
