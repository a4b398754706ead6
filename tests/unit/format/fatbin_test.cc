// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/fatbin.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "format/fatbin_format.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;
using format::FatbinMemberHeader;

void Append(Bytes& out, const void* data, std::size_t size) {
  const std::size_t at = out.size();
  out.resize(at + size);
  if (size != 0) std::memcpy(out.data() + at, data, size);
}
template <typename T>
void Put(Bytes& out, const T& value) {
  Append(out, &value, sizeof(value));
}

void Pad(Bytes& out) { out.resize((out.size() + 7) / 8 * 8); }

// A member whose sizes are filled in; `options` as its extension record.
Bytes Member(FatbinMemberHeader header, std::string_view payload, std::string_view options = {}) {
  Bytes tail;
  if (!options.empty()) {
    header.extension = sizeof(header);
    Put(tail,
        format::FatbinExtension{sizeof(header) + 8, static_cast<std::uint32_t>(options.size())});
    Append(tail, options.data(), options.size());
    Pad(tail);
  }
  header.version = format::kFatbinMemberVersion;
  header.header_size = static_cast<std::uint32_t>(sizeof(header) + tail.size());
  header.size = (payload.size() + 7) / 8 * 8;
  Bytes out;
  Put(out, header);
  for (const std::uint8_t byte : tail) out.push_back(byte);
  for (const char byte : payload) out.push_back(static_cast<std::uint8_t>(byte));
  Pad(out);
  return out;
}

Bytes Container(const std::vector<Bytes>& members) {
  Bytes content;
  for (const Bytes& member : members) Append(content, member.data(), member.size());
  Bytes out;
  Put(out, format::FatbinHeader{format::kFatbinMagic, 1, 16, content.size()});
  for (const std::uint8_t byte : content) out.push_back(byte);
  return out;
}

Bytes PtxMember() {
  FatbinMemberHeader header = {};
  header.kind = 1;
  header.code_version_major = 9;
  header.arch = 90;
  header.flags = 0x100011;
  return Member(header, std::string_view(".version 9.0\0", 13), "--compile-only ");
}

Bytes ElfMember(std::uint16_t kind = 2) {
  FatbinMemberHeader header = {};
  header.kind = kind;
  header.code_version_major = 1;
  header.code_version_minor = 8;
  header.arch = 100;
  header.flags = 0x200013;
  return Member(header, "not really");
}

std::string TextOf(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

TEST_CASE("A fat binary's members are read", "[fatbin]") {
  const Bytes bytes = Container({PtxMember(), ElfMember(), ElfMember(0x40)});
  const auto fatbin = Fatbin::Parse(bytes);
  REQUIRE(fatbin.ok());
  CHECK(fatbin->container_count() == 1);
  REQUIRE(fatbin->members().size() == 3);
  const FatbinMember& ptx = fatbin->members()[0];
  CHECK(ptx.kind == CodeKind::kPtx);
  CHECK(ptx.arch == Arch{90, 'a'});
  CHECK(ptx.is_64bit);
  CHECK(ptx.is_linux_host);
  CHECK_FALSE(ptx.is_debug);
  CHECK(ptx.options == "--compile-only ");
  CHECK(ptx.code_version_major == 9);
  CHECK(ptx.offset == 16);
  CHECK(TextOf(*fatbin->Extract(ptx)) == ".version 9.0");
  const FatbinMember& elf = fatbin->members()[1];
  CHECK(elf.kind == CodeKind::kSass);
  CHECK(elf.arch == Arch{100, 'f'});
  CHECK(elf.is_debug);
  CHECK(elf.index == 1);
  CHECK(TextOf(*fatbin->Extract(elf)) == std::string_view("not really\0\0\0\0\0\0", 16));
  CHECK(fatbin->members()[2].kind == CodeKind::kOther);
  CHECK(fatbin->members()[2].raw_kind == 0x40);
}

TEST_CASE("A member is isolated as it is stored", "[fatbin]") {
  FatbinMemberHeader header = {};
  header.kind = 8;
  header.arch = 90;
  header.flags = 0x18011;
  header.compressed_size = 6;
  header.uncompressed_size = 100;
  header.key = 7;
  const Bytes hidden = Member(header, "hidden", "-ftz=0 ");
  const Bytes bytes = Container({PtxMember(), hidden, ElfMember()});
  const auto fatbin = Fatbin::Parse(bytes);
  REQUIRE(fatbin.ok());
  const FatbinMember& member = fatbin->members()[1];
  CHECK(FatbinErrorOf(fatbin->Extract(member).status()) == Fatbin::Error::kObfuscated);
  const auto alone = fatbin->Isolate(member);
  REQUIRE(alone.ok());
  CHECK(*alone == Container({hidden}));
  const auto again = Fatbin::Parse(*alone);
  REQUIRE(again.ok());
  CHECK(again->members().at(0).options == "-ftz=0 ");
  CHECK(TextOf(Bytes(member.whole.begin(), member.whole.end())) == TextOf(hidden));

  const auto other = Fatbin::Parse(*alone);
  CHECK(FatbinErrorOf(other->Isolate(member).status()) == Fatbin::Error::kDamaged);
}

TEST_CASE("Containers may follow one another", "[fatbin]") {
  Bytes bytes = Container({PtxMember()});
  bytes.resize(bytes.size() + 24);
  const Bytes second = Container({ElfMember(), PtxMember()});
  Append(bytes, second.data(), second.size());
  bytes.resize(bytes.size() + 5);
  const auto all = Fatbin::Parse(bytes);
  REQUIRE(all.ok());
  CHECK(all->container_count() == 2);
  REQUIRE(all->members().size() == 3);
  CHECK(all->members()[0].container == 0);
  CHECK(all->members()[2].container == 1);
  CHECK(all->members()[2].index == 1);
  // nvlink never looks behind the first, whatever stands there.
  bytes.back() = 1;
  CHECK(FatbinErrorOf(Fatbin::Parse(bytes).status()) == Fatbin::Error::kDamaged);
  FatbinLimits limits;
  limits.only_first_container = true;
  const auto first = Fatbin::Parse(bytes, limits);
  REQUIRE(first.ok());
  CHECK(first->members().size() == 1);
}

TEST_CASE("The errors of fat binaries can be told apart", "[fatbin]") {
  const Bytes good = Container({PtxMember()});
  CHECK(FatbinErrorOf(Fatbin::Parse(good).status()) == Fatbin::Error::kNone);
  CHECK(FatbinErrorOf(Fatbin::Parse({}).status()) == Fatbin::Error::kNotFatbin);
  Bytes other = good;
  other[0] ^= 1;
  CHECK(FatbinErrorOf(Fatbin::Parse(other).status()) == Fatbin::Error::kNotFatbin);
  other = good;
  other[4] = 2;
  CHECK(FatbinErrorOf(Fatbin::Parse(other).status()) == Fatbin::Error::kVersion);
  other = good;
  other.pop_back();
  CHECK(FatbinErrorOf(Fatbin::Parse(other).status()) == Fatbin::Error::kDamaged);
  FatbinLimits limits;
  limits.max_members = 0;
  CHECK(FatbinErrorOf(Fatbin::Parse(good, limits).status()) == Fatbin::Error::kTooLarge);
  other = good;
  other[16 + 0x28 + 2] |= 1;  // obfuscated
  const auto fatbin = Fatbin::Parse(other);
  REQUIRE(fatbin.ok());
  CHECK(fatbin->members()[0].is_obfuscated);
  const auto text = fatbin->Extract(fatbin->members()[0]);
  CHECK(FatbinErrorOf(text.status()) == Fatbin::Error::kObfuscated);
}

}  // namespace
}  // namespace devlink::testing
