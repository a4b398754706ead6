// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "devlink-diff/cubin_names.h"
#include "devlink/arch.h"
#include "devlink/toolkit_profile.h"
#include "format/elf_cuda.h"
#include "format/notes.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using diff::AttributeName;

TEST_CASE("Arch::Parse takes every name of the 13.x toolkits", "[format]") {
  for (const std::string name :
       {"sm_75",   "sm_80",   "sm_86",   "sm_87",   "sm_88",   "sm_89",   "sm_90",  "sm_90a",
        "sm_100",  "sm_100a", "sm_100f", "sm_103",  "sm_103a", "sm_103f", "sm_110", "sm_110a",
        "sm_110f", "sm_120",  "sm_120a", "sm_120f", "sm_121",  "sm_121a", "sm_121f"}) {
    CAPTURE(name);
    const auto arch = Arch::Parse(name);
    REQUIRE(arch.ok());
    CHECK(arch->Name() == name);
  }
}

TEST_CASE("Arch::Parse refuses everything else", "[format]") {
  for (const std::string name :
       {"",        "sm",     "sm_",        "sm_7",    "sm_70",  "sm_750", "sm_75a",
        "sm_80a",  "sm_90f", "sm_90b",     "sm_90aa", "sm_90 ", " sm_90", "SM_90",
        "sm90",    "sm_9",   "compute_90", "sm_090",  "sm_-90", "sm_+90", "sm_99999999999999999999",
        "sm_100x", "lto_90"}) {
    CAPTURE(name);
    const auto arch = Arch::Parse(name);
    CHECK_FALSE(arch.ok());
    CHECK(arch.status().code() == absl::StatusCode::kInvalidArgument);
  }
}

// Rows are members, columns targets. nvlink 13.0 itself filled this table in.
TEST_CASE("SassLinksFor is nvlink's table", "[format]") {
  constexpr std::array<std::string_view, 8> kNames = {"sm_75", "sm_80", "sm_86", "sm_87",
                                                      "sm_88", "sm_89", "sm_90", "sm_90a"};
  constexpr std::array<std::string_view, 8> kLinks = {
      "x.......",  // sm_75
      ".xx..x..",  // sm_80
      "..x..x..",  // sm_86
      "...x....",  // sm_87
      "....x...",  // sm_88
      ".....x..",  // sm_89
      "......xx",  // sm_90
      "......xx",  // sm_90a
  };
  for (std::size_t member = 0; member < kNames.size(); ++member) {
    for (std::size_t target = 0; target < kNames.size(); ++target) {
      CAPTURE(kNames[member], kNames[target]);
      CHECK(SassLinksFor(*Arch::Parse(kNames[member]), *Arch::Parse(kNames[target])) ==
            (kLinks[member][target] == 'x'));
    }
  }
}

TEST_CASE("PTX is compiled for later architectures, that of one architecture for itself",
          "[format]") {
  const auto compiles = [](const char* member, const char* target) {
    return PtxCompilesFor(*Arch::Parse(member), *Arch::Parse(target));
  };
  CHECK(compiles("sm_75", "sm_90"));
  CHECK(compiles("sm_90", "sm_90a"));
  CHECK_FALSE(compiles("sm_90", "sm_80"));
  CHECK(compiles("sm_90a", "sm_90a"));
  CHECK_FALSE(compiles("sm_90a", "sm_90"));
  CHECK_FALSE(compiles("sm_90a", "sm_100"));
  CHECK(compiles("sm_100f", "sm_100"));
  CHECK(compiles("sm_100f", "sm_103"));
  CHECK_FALSE(compiles("sm_100f", "sm_120"));
}

TEST_CASE("IsLinkTarget is every architecture that is known", "[format]") {
  CHECK(IsLinkTarget(*Arch::Parse("sm_75")));
  CHECK(IsLinkTarget(*Arch::Parse("sm_90a")));
  CHECK(IsLinkTarget(*Arch::Parse("sm_100")));
  CHECK(IsLinkTarget(*Arch::Parse("sm_121f")));
  CHECK_FALSE(IsLinkTarget(Arch{.number = 101}));
  CHECK_FALSE(IsLinkTarget(Arch{}));
  CHECK_FALSE(IsLinkTarget({.number = 101}));
}

std::vector<format::InfoRecord> ReadAll(const std::vector<std::uint8_t>& bytes, bool& well_formed) {
  format::InfoReader reader(bytes);
  std::vector<format::InfoRecord> records;
  for (format::InfoRecord record; reader.Next(record);) records.push_back(record);
  well_formed = reader.well_formed();
  return records;
}

TEST_CASE("InfoReader walks records of all formats", "[format]") {
  const std::vector<std::uint8_t> bytes = {1, 4,    0,    0,                          // no value
                                           2, 0x4c, 7,    0,                          // byte
                                           3, 0x1b, 0xff, 0,                          // half
                                           4, 0x2f, 8,    0, 1, 0, 0, 0, 9, 0, 0, 0,  // sized
                                           4, 0x0f, 0,    0};  // sized, empty
  bool well_formed = false;
  const auto records = ReadAll(bytes, well_formed);
  CHECK(well_formed);
  REQUIRE(records.size() == 5);
  CHECK(records[1].id == format::kAttrNumBarriers);
  CHECK(records[1].value == 7);
  CHECK(records[2].value == 255);
  CHECK(records[3].payload.size() == 8);
  CHECK(records[3].payload[4] == 9);
  CHECK(records[4].payload.empty());
}

TEST_CASE("InfoReader stops where the bytes are not a record", "[format]") {
  const std::vector<std::vector<std::uint8_t>> malformed = {{1},
                                                            {1, 4, 0},
                                                            {0, 4, 0, 0},
                                                            {5, 4, 0, 0},
                                                            {0xff, 4, 0, 0},
                                                            {4, 0x2f, 1, 0},
                                                            {4, 0x2f, 0xff, 0xff, 1, 2, 3},
                                                            {1, 4, 0, 0, 1}};
  for (const auto& bytes : malformed) {
    bool well_formed = true;
    ReadAll(bytes, well_formed);
    CAPTURE(bytes);
    CHECK_FALSE(well_formed);
  }
  bool well_formed = false;
  CHECK(ReadAll({}, well_formed).empty());
  CHECK(well_formed);
}

TEST_CASE("Attribute names agree with those of the test's own table", "[format]") {
  CHECK(format::InfoAttributeName(format::kAttrRegCount) == "REGCOUNT");
  CHECK(format::InfoAttributeName(format::kAttrExterns) == "EXTERNS");
  CHECK(format::InfoAttributeName(0xff).empty());
  for (int id = 0; id < 256; ++id) {
    const std::string_view name = format::InfoAttributeName(static_cast<std::uint8_t>(id));
    if (name.empty()) continue;
    std::string other = AttributeName(static_cast<std::uint8_t>(id));
    if (other.starts_with("EIATTR_")) other.erase(0, 7);
    if (other.starts_with("0x")) continue;  // the test's table does not have it
    CHECK(other == name);
  }
}

// Of the types from `first` on; how many there are.
std::size_t CheckRelocations(std::uint32_t first) {
  std::set<std::string_view> names;
  for (std::uint32_t type = first; type < first + 0x100; ++type) {
    const format::RelocationInfo* info = format::FindRelocation(type);
    if (info == nullptr) continue;
    CAPTURE(type, info->name);
    CHECK(info->type == type);
    CHECK(names.insert(info->name).second);
    CHECK(info->bytes <= 16);  // an instruction
    const bool has_field = info->parts[0].width != 0;
    const bool needs_field = info->action == format::RelocationAction::kApply ||
                             info->action == format::RelocationAction::kClear;
    CHECK(has_field == needs_field);
    std::uint64_t seen_low = 0;
    std::uint64_t seen_high = 0;
    for (const format::FieldPart& part : info->parts) {
      CHECK(part.width <= 64);
      CHECK(part.low_bit + part.width <= 64);
      CHECK(std::uint64_t{part.position} + part.width <= info->bytes * 8);
      // No two parts share a bit.
      for (unsigned bit = part.position; bit < part.position + unsigned{part.width}; ++bit) {
        std::uint64_t& seen = bit < 64 ? seen_low : seen_high;
        CHECK((seen >> (bit % 64) & 1) == 0);
        seen |= std::uint64_t{1} << (bit % 64);
      }
    }
    if (info->becomes == 0) continue;
    REQUIRE(format::FindRelocation(info->becomes) != nullptr);
    CHECK(format::IsMercuryRelocation(info->becomes) == format::IsMercuryRelocation(type));
    const format::RelocationInfo& other = *format::FindRelocation(info->becomes);
    if (has_field) CHECK(other.bytes == info->bytes);
  }
  return names.size();
}

TEST_CASE("Relocation fields lie within what bytes promises", "[format]") {
  CHECK(CheckRelocations(0) == 0x74);
  CHECK(CheckRelocations(format::kMercuryRelocations) == 0x40);
  CHECK(format::FindRelocation(0x74) == nullptr);
  CHECK(format::FindRelocation(0xffffffff) == nullptr);
  CHECK(format::FindRelocation(format::kRelocAbs64)->bytes == 8);
}

TEST_CASE("A tool record is a note with five strings", "[format]") {
  const auto bytes = format::EncodeToolRecord({.object = "",
                                               .tool = "devlink",
                                               .version = "version",
                                               .build = "b",
                                               .options = "-arch sm_80 "});
  const base::BoundedReader reader(bytes);
  CHECK(bytes.size() % 4 == 0);
  CHECK(reader.ReadOrZero<std::uint32_t>(0) == 12);
  CHECK(reader.ReadOrZero<std::uint32_t>(4) == bytes.size() - 24);
  CHECK(reader.ReadOrZero<std::uint32_t>(8) == format::kNoteToolInfo);
  CHECK(reader.CString(12) == std::optional<std::string_view>("NVIDIA Corp"));
  CHECK(reader.ReadOrZero<std::uint32_t>(24) == 2);
  const std::array<std::string_view, 5> expected = {"", "devlink", "version", "b", "-arch sm_80 "};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto at = reader.ReadOrZero<std::uint32_t>(28 + 4 * i);
    CHECK(reader.CString(48 + std::uint64_t{at}) == std::optional<std::string_view>(expected[i]));
  }
  // Padding is zero.
  const std::size_t end = 48 + 1 + 8 + 8 + 2 + 13;
  CHECK(std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(end), bytes.end(),
                    [](std::uint8_t b) { return b == 0; }));
}

TEST_CASE("Tools' records are read as they were written", "[format]") {
  std::vector<std::uint8_t> note =
      format::EncodeToolRecord({.tool = "ptxas", .version = "13.0", .options = "-arch sm_90"});
  const std::vector<std::uint8_t> second = format::EncodeToolRecord({.object = "a", .tool = "b"});
  note.insert(note.end(), second.begin(), second.end());
  const auto records = format::ReadToolRecords(note);
  REQUIRE(records.has_value());
  REQUIRE(records->size() == 2);
  CHECK((*records)[0].tool == "ptxas");
  CHECK((*records)[0].options == "-arch sm_90");
  CHECK((*records)[1].object == "a");
  CHECK(format::ReadToolRecords({})->empty());
  for (std::size_t size = 1; size < second.size(); ++size) {
    CHECK_FALSE(format::ReadToolRecords(base::Bytes(second).first(size)).has_value());
  }
}

TEST_CASE("Profiles exist for 13.0 to 13.5", "[format]") {
  for (const std::string release : {"13.0", "13.1", "13.2", "13.3", "13.4", "13.5"}) {
    const auto profile = ToolkitProfile::ForRelease(release);
    REQUIRE(profile.ok());
    CHECK(profile->release == 130 + (release[3] - '0'));
  }
  for (const std::string release : {"", "13", "13.", "13.6", "12.9", "13.00", "13.0 ", "14.0"}) {
    CHECK(ToolkitProfile::ForRelease(release).status().code() == absl::StatusCode::kNotFound);
  }
}

TEST_CASE("Of releases without a profile the nearest one counts", "[format]") {
  CHECK(ToolkitProfile::Nearest(134).release == 134);
  CHECK(ToolkitProfile::Nearest(118).release == 130);
  CHECK(ToolkitProfile::Nearest(999).release == 135);
}

TEST_CASE("A tool is of a release whatever its patch level is", "[format]") {
  const auto profile = ToolkitProfile::ForRelease("13.1");
  REQUIRE(profile.ok());
  CHECK(profile->IsReleaseOf("13.1"));
  CHECK(profile->IsReleaseOf("13.1.115"));
  CHECK(profile->IsReleaseOf(""));
  CHECK_FALSE(profile->IsReleaseOf("13.0.88"));
  CHECK_FALSE(profile->IsReleaseOf("13.15"));
}

TEST_CASE("A profile has the name that it is asked for by", "[format]") {
  for (const char* name : {"13.0", "13.3", "13.5"}) {
    CHECK(ToolkitProfile::ForRelease(name)->ReleaseName() == name);
  }
}

TEST_CASE("The profile of 13.0 has the defaults", "[format]") {
  const auto profile = ToolkitProfile::ForRelease("13.0");
  REQUIRE(profile.ok());
  const ToolkitProfile plain;
  CHECK(profile->release == plain.release);
  CHECK(profile->version_text_length == plain.version_text_length);
  CHECK(profile->build_text_length == plain.build_text_length);
  CHECK(profile->weak_symbols_are_global == plain.weak_symbols_are_global);
  CHECK(profile->writes_phantom_rel_names == plain.writes_phantom_rel_names);
  CHECK(profile->accepts_specific_code_for_plain_target ==
        plain.accepts_specific_code_for_plain_target);
  CHECK(profile->compat_keeps_opportunistic == plain.compat_keeps_opportunistic);
  CHECK(profile->compat_keeps_fastpath == plain.compat_keeps_fastpath);
  CHECK(profile->compat_adds_internal_target == plain.compat_adds_internal_target);
  CHECK(profile->compat_adds_isa_minimum == plain.compat_adds_isa_minimum);
  CHECK(profile->compat_intersects_tcgen05_and_finalizer ==
        plain.compat_intersects_tcgen05_and_finalizer);
}

}  // namespace
}  // namespace devlink::testing
