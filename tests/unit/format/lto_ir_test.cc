// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/lto_ir.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Not more than a beginning, which is all that is looked at.
const Bytes kBitcode = {'B', 'C', 0xC0, 0xDE, 0x35, 0x14, 0, 0};

constexpr Arch kSm90 = {90, 0};
constexpr Arch kSm90a = {90, 'a'};
constexpr Arch kSm100 = {100, 0};

LtoIrVersions OfLlvm7() {
  LtoIrVersions out;
  out.llvm = {7, 0};
  return out;
}

Bytes ContainerOf(Arch arch = kSm90, const LtoIrVersions& versions = OfLlvm7()) {
  return WriteLtoIr(kBitcode, arch, versions).value();
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

std::string WhyNot(std::string_view text) {
  const Bytes bytes(text.begin(), text.end());
  const auto ir = LtoIr::Parse(bytes);
  CHECK(absl::IsInvalidArgument(ir.status()));
  return Message(ir.status());
}

Bytes With(Bytes bytes, std::size_t at, std::uint8_t value) {
  bytes.at(at) = value;
  return bytes;
}

TEST_CASE("A container of LTO IR that was written is read", "[lto_ir]") {
  const Bytes plain = ContainerOf();
  // As nvcc 13.0 writes it for sm_90, but for the key and what follows it.
  const Bytes head = {0xED, 0x43, 0x4E, 0x7F, 1, 0x41, 2, 0x62, 3, 2, 7, 0,    0x18, 0, 1,
                      0,    0x28, 0,    0,    0, 0x2C, 0, 0,    0, 1, 0, 0x84, 3,    2, 0,
                      2,    0,    0x63, 0,    0, 0,    0, 0,    0, 0, 0, 0,    0,    0};
  CHECK(Bytes(plain.begin(), plain.begin() + 44) == head);

  const auto ir = LtoIr::Parse(plain);
  REQUIRE(ir.ok());
  CHECK(ir->versions == OfLlvm7());
  CHECK(ir->arch == kSm90);
  CHECK_FALSE(ir->is_protected());
  CHECK(ir->tags == std::vector<LtoIrTag>{{1, 900}, {2, 2}, {0x63, 0}});
  CHECK(Bytes(ir->payload.begin(), ir->payload.end()) == kBitcode);
  CHECK(ir->Check(kSm90).ok());
  CHECK(ir->Check({75, 0}).ok());  // nobody compares
}

TEST_CASE("Tags stand where the header says", "[lto_ir]") {
  Bytes bytes = ContainerOf();
  CHECK(LtoIr::Parse(bytes)->tags_offset == 24);
  bytes.insert(bytes.begin() + 24, 4, 0xff);
  for (const std::size_t field : {12, 16, 20}) bytes[field] += 4;
  const auto ir = LtoIr::Parse(bytes);
  REQUIRE(ir.ok());
  CHECK(ir->tags_offset == 28);
  CHECK(ir->tags == LtoIr::Parse(ContainerOf())->tags);
}

TEST_CASE("The tag of architecture-specific code moves what follows it", "[lto_ir]") {
  const Bytes bytes = ContainerOf(kSm90a);
  const auto ir = LtoIr::Parse(bytes);
  REQUIRE(ir.ok());
  CHECK(ir->arch == kSm90a);
  CHECK(bytes.at(16) == 0x2C);
  CHECK(bytes.size() == 48 + kBitcode.size());
  CHECK(ir->tags.size() == 4);
}

TEST_CASE("A protected payload is passed on as it is", "[lto_ir]") {
  Bytes bytes = ContainerOf();
  bytes.at(40) = 7;     // the key
  bytes.at(44) = 0x99;  // the payload
  const auto ir = LtoIr::Parse(bytes);
  REQUIRE(ir.ok());
  CHECK(ir->is_protected());
  CHECK(ir->key == 7);
  CHECK(ir->payload.front() == 0x99);
  CHECK(ir->payload.data() == bytes.data() + 44);
  CHECK(ir->Check(kSm90).ok());
}

TEST_CASE("What is not LTO IR is called by its name", "[lto_ir]") {
  using namespace std::string_view_literals;
  CHECK(WhyNot("") == "not LTO IR: it is empty");
  CHECK(WhyNot("\x7f"
               "ELF\x02\x01"sv) == "not LTO IR: it is an ELF file, an object or a cubin");
  CHECK(WhyNot("BC\xc0\xde\x35\x14"sv).find("LLVM bitcode without the container") !=
        std::string::npos);
  CHECK(WhyNot("\xde\xc0\x17\x0b\x00\x00"sv).find("LLVM bitcode") != std::string::npos);
  CHECK(WhyNot("target triple = \"nvptx64\"\n").find("LLVM IR as text") != std::string::npos);
  CHECK(WhyNot("//\n.version 9.0\n.target sm_90\n").find("it is PTX") != std::string::npos);
  CHECK(WhyNot("\x50\xed\x55\xba\x01"sv).find("fat binary") != std::string::npos);
  CHECK(WhyNot("!<arch>\nlib.o/").find("archive") != std::string::npos);
  CHECK(WhyNot("hello\n") == "not LTO IR: it is text");
  CHECK(WhyNot("\x01\x02\x03\x04"sv) == "not LTO IR: it does not begin with ed 43 4e 7f");
}

TEST_CASE("Versions that libNVVM does not read are told", "[lto_ir]") {
  struct Row {
    std::size_t at;
    std::uint8_t value;
    const char* text;
  };
  // What libNVVM 13.0 refused of these, one byte changed at a time.
  const Row refused[] = {
      {4, 2, "container version is 2.65, and this libNVVM reads 1.65; link with"},
      {5, 66, "container version is 1.66"},
      {4, 0, "container version is 0.65, and this libNVVM reads 1.65; compile the source again"},
      {6, 3, "NVVM IR version is 3.98"},
      {7, 99, "NVVM IR version is 2.99"},
      {8, 4, "debug information version is 4.2"},
      {9, 3, "debug information version is 3.3"},
      {10, 21, "LLVM version is 21.0"},
  };
  for (const Row& row : refused) {
    const Bytes bytes = With(ContainerOf(), row.at, row.value);
    const auto ir = LtoIr::Parse(bytes);
    REQUIRE(ir.ok());
    const absl::Status status = ir->Check(kSm100);
    CAPTURE(row.text, Message(status));
    CHECK(absl::IsFailedPrecondition(status));
    CHECK(Message(status).find(row.text) != std::string::npos);
  }
  for (const std::size_t minor : {5, 7, 9}) {
    const Bytes bytes = With(ContainerOf(), minor, 0);
    CHECK(LtoIr::Parse(bytes)->Check(kSm90).ok());
  }
  LtoIrVersions later;
  later.container = {1, 67};
  later.ir = {2, 131};
  CHECK(LtoIr::Parse(With(ContainerOf(), 5, 66))->Check(kSm90, later).ok());
}

TEST_CASE("Code of LLVM 20 is for sm_100 and later", "[lto_ir]") {
  const Bytes bytes = ContainerOf(kSm100, {});
  const auto ir = LtoIr::Parse(bytes);
  REQUIRE(ir.ok());
  CHECK(ir->Check(kSm100).ok());
  CHECK(ir->Check({120, 0}).ok());
  CHECK(Message(ir->Check(kSm90)) ==
        "LTO IR: it was compiled for sm_100 with LLVM 20.0, which cannot be compiled for sm_90: "
        "targets below sm_100 take code of LLVM 7.0; compile the source for sm_90");
}

TEST_CASE("Contents that libNVVM would refuse are told", "[lto_ir]") {
  Bytes no_arch = ContainerOf();
  no_arch.at(26) = no_arch.at(27) = 0;
  CHECK(absl::IsInvalidArgument(LtoIr::Parse(no_arch)->Check(kSm90)));
  const Bytes no_bitcode = With(ContainerOf(), 44, 'X');
  CHECK(Message(LtoIr::Parse(no_bitcode)->Check(kSm90)).find("nor LLVM bitcode") !=
        std::string::npos);
}

TEST_CASE("Only bitcode for an architecture is written", "[lto_ir]") {
  CHECK(absl::IsInvalidArgument(WriteLtoIr({}, kSm90, {}).status()));
  CHECK(absl::IsInvalidArgument(WriteLtoIr(kBitcode, {0, 0}, {}).status()));
  CHECK(absl::IsInvalidArgument(WriteLtoIr(kBitcode, {6554, 0}, {}).status()));
}

TEST_CASE("LTO IR that is cut off anywhere is refused or still whole", "[lto_ir][damage]") {
  const Bytes whole = ContainerOf(kSm90a);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto ir = LtoIr::Parse(cut);
    CAPTURE(size, Message(ir.status()));
    if (size <= 48) {
      REQUIRE_FALSE(ir.ok());
      CHECK(Message(ir.status()).find(size == 0 ? "it is empty" : "cut off") != std::string::npos);
    } else {
      REQUIRE(ir.ok());
      CHECK(ir->payload.size() == size - 48);
      CHECK(ir->Check(kSm90).ok() == (size >= 52));
    }
  }
}

TEST_CASE("No flipped bit makes a reader leave the bytes", "[lto_ir][damage]") {
  const Bytes whole = ContainerOf(kSm90a);
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes bytes = whole;
    bytes.at(bit / 8) ^= static_cast<std::uint8_t>(1U << (bit % 8));
    const auto ir = LtoIr::Parse(bytes);
    if (!ir.ok()) {
      CHECK_FALSE(ir.status().message().empty());
      continue;
    }
    REQUIRE(ir->payload.data() >= bytes.data());
    REQUIRE(ir->payload.data() + ir->payload.size() == bytes.data() + bytes.size());
    CHECK(ir->tags.size() <= bytes.size() / 4);
    (void)ir->Check(kSm90);
  }
  for (const std::size_t at : {16, 20}) {  // the two offsets
    for (const std::uint32_t offset : {0U, 1U, 23U, 57U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
      Bytes bytes = whole;
      std::memcpy(bytes.data() + at, &offset, sizeof(offset));
      CHECK(absl::IsOutOfRange(LtoIr::Parse(bytes).status()));
    }
  }
  Bytes bytes = whole;
  bytes.at(12) = 0x30;  // the tags would begin where the area with the key does
  CHECK(absl::IsOutOfRange(LtoIr::Parse(bytes).status()));
  bytes = whole;
  bytes.at(39) = 0xFF;  // the key would lie far behind the end
  CHECK(absl::IsOutOfRange(LtoIr::Parse(bytes).status()));
}

TEST_CASE("Without the tag that announces it there is no key", "[lto_ir]") {
  Bytes bytes = ContainerOf();
  bytes.at(40) = 7;
  CHECK(LtoIr::Parse(bytes)->is_protected());
  bytes.at(32) = 0x64;  // found with libNVVM, which then takes the payload for plain
  CHECK_FALSE(LtoIr::Parse(bytes)->is_protected());
}

}  // namespace
}  // namespace devlink::testing
