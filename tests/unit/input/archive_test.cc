// SPDX-License-Identifier: Apache-2.0
//
// Archives byte by byte: what GNU and BSD tools write, and what no tool writes.
#include "input/archive.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "input/expand.h"
#include "support/catch.h"
#include "support/elf_builder.h"

namespace devlink::testing {
namespace {

using internal::Archive;
using internal::ReadArchive;

std::string Field(std::string text, std::size_t width) {
  text.resize(width, ' ');
  return text;
}

std::string Member(const std::string& name, const std::string& size, const std::string& bytes) {
  const std::string pad = bytes.size() % 2 == 0 ? "" : "\n";
  return Field(name, 16) + Field("0", 12) + Field("0", 6) + Field("0", 6) + Field("644", 8) +
         Field(size, 10) + "`\n" + bytes + pad;
}
std::string Member(const std::string& name, const std::string& bytes) {
  return Member(name, std::to_string(bytes.size()), bytes);
}

constexpr std::string_view kMagic = "!<arch>\n";

// `name=bytes` of each member, or what is wrong.
std::string Listing(const std::string& members, const internal::FileReader& read = nullptr,
                    std::string_view magic = kMagic) {
  const ByteVector bytes = ToBytes(std::string(magic) + members);
  const auto archive = ReadArchive("l.a", bytes, read);
  if (!archive.ok()) return std::string(archive.status().message());
  std::string out;
  for (const auto& member : archive->members) {
    out += std::string(member.name) + "=" + std::string(member.bytes.begin(), member.bytes.end());
    out += ' ';
  }
  return out;
}

TEST_CASE("Archives of GNU tools: tables are passed over, long names stand in one", "[archive]") {
  CHECK(Listing(Member("/", std::string(12, '\0')) + Member("//", "a_long_name.o/\nb c.o/\n") +
                Member("/0", "A") + Member("s.o/", "BB") + Member("/15", "C")) ==
        "a_long_name.o=A s.o=BB b c.o=C ");
  CHECK(Listing(Member("/SYM64/", "xxxxxxxx") + Member("s.o/", "B")) == "s.o=B ");
  CHECK(Listing("").empty());
  // The last member may lack the byte that makes it even.
  std::string odd = Member("s.o/", "B");
  odd.pop_back();
  CHECK(Listing(odd) == "s.o=B ");
}

TEST_CASE("Archives of BSD tools: names stand before the bytes", "[archive]") {
  using namespace std::string_literals;
  const std::string members = Member("#1/12", "__.SYMDEF\0\0\0xxxx"s) +
                              Member("#1/8", "name.o\0\0AB"s) + Member("short.o", "CD");
  CHECK(Listing(members) == "name.o=AB short.o=CD ");
  const ByteVector bytes = ToBytes(std::string(kMagic) + members);
  CHECK(ReadArchive("l.a", bytes, nullptr)->names_before_data);
}

TEST_CASE("Forms of other systems are refused with advice", "[archive]") {
  using namespace std::string_literals;
  const std::string coff = Member("/", "AAAA") + Member("/", "AAAA") + Member("//", "AAAAAA") +
                           Member("/0", std::string(64, 'B'));
  CHECK(
      Listing(coff) ==
      "'l.a' is an archive in the form of COFF (offset 72); make it again with ar of GNU binutils "
      "or llvm-ar --format=gnu");
  CHECK(Listing(Member("#1/16", "__.SYMDEF_64\0\0\0\0"s)).find("the form of Darwin") !=
        std::string::npos);
}

TEST_CASE("No number in an archive is believed", "[archive]") {
  const auto says = [](const std::string& members, std::string_view what) {
    const std::string listing = Listing(members);
    CAPTURE(listing);
    CHECK(listing.starts_with("'l.a' is damaged: "));
    CHECK(listing.find(what) != std::string::npos);
  };
  // 71 bytes: a name that is longer than the file, in a member that is, too.
  says(Member("#1/9999999000", "9999999999", "abc"), "9999999999 bytes and ends behind");
  says(Member("#1/9999999000", "abcd"), "does not lie within the member");
  says(Member("#1/x", "abcd"), "does not lie within the member");
  says(Member("s.o/", "-1", ""), "the size of a member is not a number");
  says(Member("s.o/", "", ""), "the size of a member is not a number");
  says(Member("/0", "A"), "does not lie within the table of names");
  says(Member("//", "abc/\n") + Member("/99999999999999", "A"), "within the table of names");
  says(Member("//", "abcdef") + Member("/2", "A"), "has no end in the table of names");
  says(Member("//", "\nabc") + Member("/0", "A"), "has no end in the table of names");
  says(Member("//", "a/\n") + Member("//", "a/\n"), "a second table of names");
  says(Member("s.o/", "AB") + "x", "the header of a member is cut off");
  says(std::string(60, ' '), "no member begins here");
}

TEST_CASE("A long name that all members share costs nothing", "[archive]") {
  std::string members = Member("//", std::string(2'000'000, 'n') + "/\n");
  for (int i = 0; i < 3000; ++i) members += Member("/0", std::string(60, 'x'));
  CHECK(Listing(members).find("the name of a member is longer than 4096 bytes") !=
        std::string::npos);
}

TEST_CASE("A thin archive reads each file once, however its path is written", "[archive]") {
  std::vector<std::string> asked;
  const auto read = [&](const std::string& path) -> absl::StatusOr<ByteVector> {
    asked.push_back(path);
    return ToBytes("x");
  };
  const std::string names = "a/\n./a/\n.//./a/\nd//e/\nd/./e/\n/r/./s/\n";
  std::string members = Member("//", names);
  for (const char* name : {"/0", "/3", "/8", "/16", "/22", "/29"}) members += Member(name, "9", "");
  CHECK(Listing(members, read, "!<thin>\n") == "a=x ./a=x .//./a=x d//e=x d/./e=x /r/./s=x ");
  CHECK(asked == std::vector<std::string>{"a", "d/e", "/r/s"});
}

TEST_CASE("Whatever is cut off or changed in an archive, it is read or refused", "[archive]") {
  using namespace std::string_literals;
  const std::string whole = std::string(kMagic) + Member("/", std::string(12, '\0')) +
                            Member("//", "a_long_name.o/\n") + Member("/0", "A") +
                            Member("#1/8", "name.o\0\0AB"s);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const ByteVector cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    (void)ReadArchive("l.a", cut, nullptr);
    for (const char c : {'\0', '9', '/', '#', ' ', '\xff'}) {
      if (size == whole.size()) break;
      ByteVector changed = ToBytes(whole);
      changed[size] = static_cast<std::uint8_t>(c);
      changed.shrink_to_fit();
      const auto archive = ReadArchive("l.a", changed, nullptr);
      if (archive.ok()) CHECK(archive->members.size() <= 3);
    }
  }
}

// --- host objects --------------------------------------------------------------------------------

TEST_CASE("Sections of a host object that share bytes are refused", "[archive]") {
  // 400 lists over the same bytes.
  const std::vector<ElfSection> sections(400, {".nvHRKE", std::string(1000, 'k')});
  ByteVector bytes = BuildElf(sections);
  const auto number = [&](std::uint64_t at) {
    std::uint64_t value = 0;
    for (int i = 7; i >= 0; --i) value = value << 8 | bytes[at + static_cast<std::uint64_t>(i)];
    return value;
  };
  const std::uint64_t table = number(40);
  const std::uint64_t first = number(table + 64 + 24);
  for (std::uint64_t i = 1; i <= sections.size(); ++i) {
    const std::uint64_t header = table + i * 64;
    for (int b = 0; b < 8; ++b) {
      bytes[header + 24 + static_cast<std::uint64_t>(b)] =
          static_cast<std::uint8_t>(first >> (8 * b));
    }
  }
  const internal::Expansion found = internal::ExpandInput("h.o", bytes, {});
  REQUIRE(found.fatal());
  REQUIRE_FALSE(found.diagnostics.back().notes.empty());
  CHECK(found.diagnostics.back().notes.front().find("share the bytes at offset") !=
        std::string::npos);
}

}  // namespace
}  // namespace devlink::testing
