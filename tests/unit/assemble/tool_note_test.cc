// SPDX-License-Identifier: Apache-2.0
//
// The record that an assembler leaves in its cubin, and cubins that claim to be large.
#include "assemble/tool_note.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "devlink/experimental/cubin_writer.h"
#include "format/elf_cuda.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes WithRecord() {
  CubinWriter writer({.sm = 80});
  const Bytes record = format::EncodeToolRecord({.tool = "ptxas", .version = "1"});
  const auto note = writer.AddSection(
      {.name = format::kToolNoteName, .type = format::kShtNote, .flags = 0, .align = 4});
  writer.Append(note, record);
  const auto text = writer.AddSection({.name = ".text.k", .type = 1, .flags = 6, .align = 128});
  writer.AppendZeros(text, 128);
  return *writer.Write();
}

absl::StatusOr<Bytes> Change(Bytes cubin) {
  return internal::ChangeToolRecords(std::move(cubin), [](format::ToolRecord& record) {
    record.tool = "a tool with a longer name";
  });
}

TEST_CASE("A record grows with its cubin", "[assemble]") {
  const Bytes cubin = WithRecord();
  const auto changed = Change(cubin);
  REQUIRE(changed.ok());
  CHECK(changed->size() > cubin.size());
}

// Every number of every section header, set to what would be a file of gigabytes.
TEST_CASE("No number in an assembler's cubin makes a huge file", "[assemble]") {
  const Bytes cubin = WithRecord();
  format::Ehdr header = {};
  std::memcpy(&header, cubin.data(), sizeof(header));
  int refused = 0;
  for (std::uint64_t at = header.shoff; at < cubin.size() - 8; at += 8) {
    for (const std::uint64_t value :
         {std::uint64_t{1} << 31, std::uint64_t{1} << 34, std::uint64_t{1} << 62,
          (std::uint64_t{1} << 34) + 1, ~std::uint64_t{0}}) {
      Bytes damaged = cubin;
      std::memcpy(damaged.data() + at, &value, sizeof(value));
      const auto changed = Change(std::move(damaged));
      refused += changed.ok() ? 0 : 1;
      if (changed.ok() && changed->size() > 3 * cubin.size()) {
        FAIL_CHECK(changed->size() << " bytes for " << value << " at " << at);
      }
    }
  }
  CHECK(refused > 0);
  // Alignments that are sound one by one.
  Bytes damaged = cubin;
  for (unsigned i = 1; i < header.shnum; ++i) {
    const std::uint64_t align = std::uint64_t{1} << 20;
    std::memcpy(damaged.data() + header.shoff + i * sizeof(format::Shdr) +
                    offsetof(format::Shdr, addralign),
                &align, sizeof(align));
  }
  CHECK_FALSE(Change(std::move(damaged)).ok());
}

}  // namespace
}  // namespace devlink::testing
