// SPDX-License-Identifier: Apache-2.0
#include "input/expand.h"

#include <cstddef>

#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using internal::Expansion;

// The names of what was found, and the texts of what was said, separated by `|`.
std::string Outcome(const std::string& name, const ByteVector& bytes,
                    Compatibility compatibility = Compatibility::kDevlink, bool lto = false) {
  const Expansion found = internal::ExpandInput(name, bytes, {compatibility, lto, nullptr});
  std::string out;
  for (const auto& blob : found.blobs) out += (out.empty() ? "" : "|") + blob.name;
  for (const auto& said : found.diagnostics) out += (out.empty() ? "!" : "|!") + said.text;
  return out;
}

const ByteVector kCubin = BuildElf({}, {true, false, 190, 1});
const ByteVector kPtx = ToBytes("// a comment\n.version 9.0\n.target sm_90\n.address_size 64\n");
const ByteVector kFatbin = ToBytes(EmptyFatbin());
const ByteVector kHost = BuildHostObject(EmptyFatbin());
const ByteVector kPlainHost = BuildElf({{".text", "\xc3"}});
const ByteVector kText = ToBytes(std::string(100, 'x'));
const ByteVector kLtoIr = ToBytes("\xed\x43\x4e\x7f" + std::string(100, 'x'));

TEST_CASE("Device code is taken whatever its name", "[input]") {
  for (const char* name : {"a", "a.o", "a.cubin", "a.ptx", "a.fatbin", "a.bc", "a.so", "d.x/a.A"}) {
    for (const ByteVector* bytes : {&kCubin, &kPtx, &kFatbin, &kHost}) {
      CAPTURE(name, bytes->size());
      CHECK(Outcome(name, *bytes) == name);
    }
  }
}

TEST_CASE("Where no device code can be lost, nothing is said", "[input]") {
  for (const char* name : {"a", "a.o", "a.so", "a.txt"}) {
    CHECK(Outcome(name, kPlainHost).empty());
    CHECK(Outcome(name, BuildElf({}, {true, false, 62, 3})).empty());
    CHECK(Outcome(name, BuildElf({}, {true, false, 62, 2})).empty());
    CHECK(Outcome(name, kText).empty());
    CHECK(Outcome(name, ToBytes("!<arch>\n")).empty());
    CHECK(Outcome(name, {}).empty());
    CHECK(Outcome("l.a", BuildArchive({{name, {}}, {"h.o", kPlainHost}})).empty());
  }
  for (const char* name : {"a.cubin", "a.ptx", "a.fatbin", "a.nvvm", "a.ltoir", "a.bc"}) {
    CHECK(Outcome(name, {}) == Cat("!Could not open input file '", name, "'"));
    CHECK(Outcome(name, {}, Compatibility::kNvlink).empty());
  }
}

TEST_CASE("Every section of device code counts, with a wrapper or without", "[input]") {
  const ByteVector two =
      BuildElf({{"__nv_relfatbin", EmptyFatbin()}, {"__nv_relfatbin", EmptyFatbin()}});
  CHECK(Outcome("a.o", two) == "a.o|a.o");
  CHECK(Outcome("a.o", two, Compatibility::kNvlink).empty());
  CHECK(Outcome("a.o", BuildHostObject(EmptyFatbin(), "x", {true, true, 21, 1})) == "a.o");
}

TEST_CASE("An object that names modules has their code", "[input]") {
  const ByteVector lost = BuildElf({{"__nv_module_id", std::string("_id_1\0", 6)}});
  CHECK(Outcome("a.o", lost) == "!Could not find fatbin in 'a.o'|!elfLink internal error");
  CHECK(Outcome("a.o", lost, Compatibility::kNvlink).empty());
  // What a link before this one has linked, and an id that names nothing.
  CHECK(Outcome("a.o", BuildElf({{"__nv_module_id", std::string("def _a\0", 7)}})).empty());
  CHECK(Outcome("a.o", BuildElf({{"__nv_module_id", std::string(1, '\0')}})).empty());
}

TEST_CASE("A name that promises device code must keep its promise", "[input]") {
  CHECK(Outcome("a.cubin", kText) == "!cubin not an elf?");
  CHECK(Outcome("a.cubin", kPlainHost) == "!cubin not a device elf?");
  CHECK(Outcome("a.fatbin", kText) == "!fatbin wrong format?");
  CHECK(Outcome("a.bc", kText) == "!should never see bc files");
  CHECK(Outcome("a.ltoir", kText) == "!should only see nvvm files when -lto");
  CHECK(Outcome("a.ltoir", kText, Compatibility::kDevlink, true) == "!elfLink nvvm error");
  CHECK(Outcome("a.ptx", kText) ==
        "!Binary format for key='0', ident='' is not recognized|!elfLink fatbinary error");
  CHECK(Outcome("a.o", ToBytes("x")) == "!Could not open input file 'a.o'");
}

TEST_CASE("LTO IR needs -lto", "[input]") {
  CHECK(Outcome("a.o", kLtoIr) == "!should only see nvvm files when -lto");
  CHECK(Outcome("a.o", kLtoIr, Compatibility::kDevlink, true) == "a.o");
  CHECK(Outcome("a.ltoir", kLtoIr, Compatibility::kNvlink, true) == "a.ltoir");
}

TEST_CASE("Archives give all device code of all members, archives within them too", "[input]") {
  const ByteVector inner = BuildArchive({{"in.o", kHost}});
  const ByteVector archive = BuildArchive(
      {{"t.txt", kText}, {"e", {}}, {"c.o", kCubin}, {"p", kPtx}, {"i.a", inner}, {"h.o", kHost}});
  CHECK(Outcome("d/l.a", archive) == "d/l.a:c.o|d/l.a:p|d/l.a:i.a:in.o|d/l.a:h.o");
  CHECK(Outcome("d/l.a", archive, Compatibility::kNvlink).empty());
  const Expansion found = internal::ExpandInput("d/l.a", archive, {});
  CHECK(found.blobs.front().from_archive);
  CHECK_FALSE(found.blobs.front().from_host_object);
  CHECK(found.blobs.back().from_host_object);
  CHECK(found.blobs.back().module_ids.own == std::vector<std::string_view>{"_id_1"});
}

TEST_CASE("The device runtime is known by its name", "[input]") {
  const ByteVector archive = BuildArchive({{"h.o", kHost}});
  const auto is_runtime = [&](const char* path, const ByteVector& bytes,
                              Compatibility compatibility) {
    return internal::ExpandInput(path, bytes, {compatibility, false, nullptr})
        .blobs.at(0)
        .is_cudadevrt;
  };
  CHECK(is_runtime("d/libcudadevrt.a", archive, Compatibility::kDevlink));
  CHECK_FALSE(is_runtime("cudadevrt/l.a", archive, Compatibility::kDevlink));
  CHECK_FALSE(is_runtime("d/cudadevrt.o", kHost, Compatibility::kDevlink));
  CHECK_FALSE(is_runtime("d/libmy_cudadevrt_utils.a", archive, Compatibility::kDevlink));
  for (const char* path : {"d/libcudadevrt.a", "cudadevrt/l.a"}) {
    CHECK(is_runtime(path, archive, Compatibility::kNvlink));
  }
  CHECK(is_runtime("my_cudadevrt_tests/a.o", kHost, Compatibility::kNvlink));
}

TEST_CASE("Archives within archives end somewhere", "[input]") {
  ByteVector bytes = BuildArchive({{"h.o", kHost}});
  for (int i = 0; i < 20; ++i) bytes = BuildArchive({{"n.a", bytes}});
  const Expansion found = internal::ExpandInput("l.a", bytes, {});
  CHECK(found.fatal());
  CHECK(found.blobs.empty());

  // A thin archive that is its own member.
  const ByteVector self = BuildThinArchive({{"self.a", 10}});
  int reads = 0;
  const internal::ExpandOptions options = {Compatibility::kDevlink, false,
                                           [&](const std::string&) -> absl::StatusOr<ByteVector> {
                                             ++reads;
                                             return self;
                                           }};
  CHECK(internal::ExpandInput("self.a", self, options).fatal());
  CHECK(reads == 1);
}

TEST_CASE("What was linked before is remembered of objects without device code", "[input]") {
  using namespace std::string_literals;
  const ByteVector dlink = BuildElf({{"__nv_module_id", "def a\0def b\0"s}});
  for (const Compatibility compatibility : {Compatibility::kDevlink, Compatibility::kNvlink}) {
    const Expansion found =
        internal::ExpandInput("dlink.o", dlink, {compatibility, false, nullptr});
    CHECK(found.blobs.empty());
    CHECK(found.diagnostics.empty());
    CHECK(found.prelinked_ids == std::vector<std::string_view>{"a", "b"});
  }
}

// Every view must lie within what it was taken from.
void CheckInside(const Expansion& found, const ByteVector& bytes) {
  for (const auto& blob : found.blobs) {
    if (blob.bytes.empty()) continue;
    REQUIRE(blob.bytes.data() >= bytes.data());
    REQUIRE(blob.bytes.data() + blob.bytes.size() <= bytes.data() + bytes.size());
  }
}

TEST_CASE("No flipped bit of an object loses its code in silence", "[input]") {
  for (std::size_t at = 0; at < kHost.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      ByteVector flipped = kHost;
      flipped[at] = static_cast<std::uint8_t>(flipped[at] ^ (1 << bit));
      const Expansion found = internal::ExpandInput("a.o", flipped, {});
      if (found.blobs.empty() && !found.fatal()) FAIL_CHECK("byte " << at << ", bit " << bit);
    }
  }
}

TEST_CASE("Damage that hides an object's code is found in what is left of it", "[input]") {
  const auto with = [](std::size_t at, std::uint16_t value) {
    ByteVector out = kHost;
    std::memcpy(out.data() + at, &value, sizeof(value));
    return out;
  };
  const std::string lost = "!Could not find fatbin in 'a.o'|!elfLink internal error";
  constexpr std::size_t kType = 16;
  for (const unsigned type : {0U, 9U, 0x2e64U, 0xfe00U}) {
    CHECK(Outcome("a.o", with(kType, static_cast<std::uint16_t>(type))) == lost);
    CHECK(Outcome("a.o", with(kType, static_cast<std::uint16_t>(type)), Compatibility::kNvlink)
              .empty());
  }
  // A core dump or an object with other people's code names no device code.
  CHECK(Outcome("a.o", BuildElf({{".text", "x"}}, {.type = 9})).empty());

  // Headers of sections: the one with the code, and what stands beside it.
  constexpr std::size_t kTable = 0x28;
  constexpr std::size_t kHeader = 64;
  std::uint64_t table = 0;
  std::memcpy(&table, kHost.data() + kTable, sizeof(table));
  for (std::size_t at = table + kHeader; at < kHost.size(); at += kHeader) {
    ByteVector changed = kHost;
    constexpr std::size_t kKind = 4;
    std::memset(changed.data() + at + kKind, 0, 4);  // no section, with a place and a size
    CAPTURE((at - table) / kHeader);
    CHECK_FALSE(Outcome("a.o", changed).empty());
    // Nor is it a program that has no code for the device.
    constexpr std::uint16_t kDynamic = 3;
    std::memcpy(changed.data() + kType, &kDynamic, sizeof(kDynamic));
    CHECK_FALSE(Outcome("a.o", changed).empty());
  }
}

TEST_CASE("What cannot be read and names device code is an error", "[input]") {
  for (const char* name : {"__nv_relfatbin", "__cudaRegisterLinkedBinary_x"}) {
    for (const char* begin : {"BC\xc0\xde", "\x64\x86", "garbage"}) {
      const ByteVector bytes = ToBytes(begin + std::string(100, ' ') + name);
      const std::string text = "holds device code that cannot be read";
      CHECK(Outcome("a.o", bytes) == "!Input file 'a.o' " + text);
      CHECK(Outcome("l.a", BuildArchive({{"t", bytes}})) == "!Input file 'l.a:t' " + text);
      CHECK(Outcome("a.o", bytes, Compatibility::kNvlink).empty());
    }
  }
}

TEST_CASE("Damaged inputs are found out or read within their bounds", "[input]") {
  const ByteVector archive = BuildArchive({{"h.o", kHost}, {"c.o", kCubin}});
  for (const ByteVector* whole : {&kHost, &archive}) {
    for (const Compatibility compatibility : {Compatibility::kDevlink, Compatibility::kNvlink}) {
      for (std::size_t size = 0; size < whole->size(); ++size) {
        const ByteVector cut(whole->begin(), whole->begin() + static_cast<std::ptrdiff_t>(size));
        const Expansion found = internal::ExpandInput("a.o", cut, {compatibility, false, nullptr});
        CheckInside(found, cut);
        // An archive that ends behind a member is a whole archive; no bytes are nothing to link.
        const bool may_be_whole =
            whole == &archive || compatibility == Compatibility::kNvlink || size == 0;
        if (!found.fatal() && !may_be_whole) FAIL_CHECK("taken when cut to " << size);
      }
      for (std::size_t at = 0; at < whole->size(); ++at) {
        for (const int bit : {0, 3, 7}) {
          ByteVector flipped = *whole;
          flipped[at] = static_cast<std::uint8_t>(flipped[at] ^ (1 << bit));
          CheckInside(internal::ExpandInput("a.o", flipped, {compatibility, false, nullptr}),
                      flipped);
        }
      }
    }
  }
}

}  // namespace
}  // namespace devlink::testing
