// SPDX-License-Identifier: Apache-2.0
//
// A tolerant reader of cubins for people: it makes text out of whatever it finds and never fails.
// It is deliberately independent of the library's own reader, whose mistakes it has to show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace devlink::diff {

struct ViewSection {
  std::string name;
  std::string key;  // the name, with `#2`, `#3`.. from its second occurrence on
  std::uint32_t name_offset = 0;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t align = 0;
  std::uint64_t entry_size = 0;
  std::span<const std::uint8_t> data;  // empty for sections without bytes in the file
};

struct ViewSymbol {
  std::string_view name;
  std::string key;  // the name, or `<section>`; with `#2`, `#3`.. from its second occurrence on
  std::uint32_t name_offset = 0;
  std::uint8_t info = 0;
  std::uint8_t other = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

struct ViewSegment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t virtual_address = 0;
  std::uint64_t physical_address = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t align = 0;
};

// Borrows the bytes it was made from. Names take no more memory than a few times as much as the
// file, whatever a damaged one says.
struct CubinView {
  std::span<const std::uint8_t> bytes;
  std::vector<std::string> header;  // one `field = value` each
  std::vector<ViewSection> sections;
  std::vector<ViewSymbol> symbols;
  std::vector<ViewSymbol> mercury_symbols;  // of the Mercury view, from sm_100 on
  std::vector<ViewSegment> segments;
  std::vector<std::string> problems;  // what is malformed

  // First section of that name, or null.
  [[nodiscard]] const ViewSection* Find(std::string_view name) const;
};

CubinView ViewCubin(std::span<const std::uint8_t> bytes);

// The contents of a section, one item per line: relocations, attributes, call-graph edges, strings,
// instructions (16 bytes each) or plain bytes. Symbols and sections appear by name, never by
// number, so that one additional symbol does not change every line. Stops after `max_lines`.
std::vector<std::string> DecodeSection(const CubinView& view, const ViewSection& section,
                                       std::size_t max_lines = 1'000'000);

// What sh_info of a section means, by name where it names something.
std::string DecodeSectionInfo(const CubinView& view, const ViewSection& section);

// `.section` or the reserved number.
std::string SectionKey(const CubinView& view, std::uint32_t index);

// Offset and length in the file of the description of the first record of `.note.nv.tkinfo`; an
// empty range where there is none.
struct FileRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
FileRange FirstToolRecord(const CubinView& view);

}  // namespace devlink::diff
