// SPDX-License-Identifier: Apache-2.0
//
// `.nv.compat` and `.note.nv.cuinfo`.
#include <cstdint>
#include <string>
#include <vector>

#include "devlink/toolkit_profile.h"
#include "format/notes.h"
#include "format/nv_compat.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;
using format::CompatMerger;

Bytes Byte(std::uint8_t tag, std::uint8_t value) { return {format::kInfoByteValue, tag, value, 0}; }
Bytes Half(std::uint8_t tag, std::uint8_t low, std::uint8_t high) {
  return {format::kInfoHalfValue, tag, low, high};
}
Bytes Mask(std::uint8_t tag, std::uint8_t mask) {
  return {format::kInfoSized, tag, 8, 0, mask, 0, 0, 0, 0, 0, 0, 0};
}
Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes Merged(const std::vector<Bytes>& inputs, const std::string& release,
             bool architecture_specific = false) {
  const ToolkitProfile profile = *ToolkitProfile::ForRelease(release);
  CompatMerger merger(profile);
  for (const Bytes& input : inputs) (void)merger.Add(input);
  return merger.Finish(architecture_specific);
}

TEST_CASE("Numbers of the compatibility record merge by maximum, but for those of some tags",
          "[format]") {
  CHECK(Merged({Byte(2, 1) + Byte(7, 5), Byte(7, 2) + Byte(2, 4)}, "13.1") ==
        Byte(2, 4) + Byte(7, 5));
  CHECK(Merged({Byte(2, 0), Byte(2, 4)}, "13.1") == Byte(2, 0));
  CHECK(Merged({Byte(3, 5), Byte(3, 2)}, "13.1") == Byte(3, 7));
  CHECK(Merged({Byte(5, 6), Byte(5, 9)}, "13.1") == Byte(5, 10));
  CHECK(Merged({Byte(5, 4), Byte(5, 3)}, "13.1") == Byte(5, 0));
}

TEST_CASE("13.0 adds what an input lacks, and misses the class of instructions", "[format]") {
  const Bytes all = Byte(9, 0) + Byte(2, 1) + Byte(5, 5) + Half(7, 1, 1) + Byte(3, 0) + Byte(6, 2);
  CHECK(Merged({all, all}, "13.0") == all);
  const Bytes none = Byte(9, 0) + Byte(2, 0) + Byte(3, 3) + Byte(5, 0) + Byte(6, 1) + Half(7, 0, 1);
  CHECK(Merged({Bytes()}, "13.0") == none);
  CHECK(Merged({all, Bytes()}, "13.0") ==
        Byte(9, 0) + Byte(2, 0) + Byte(5, 0) + Half(7, 1, 1) + Byte(3, 3) + Byte(6, 1));
  CHECK(Merged({Byte(6, 1) + Half(7, 1, 1) + Byte(3, 0) + Byte(5, 5), all}, "13.0") ==
        Byte(9, 0) + Byte(6, 1) + Half(7, 1, 1) + Byte(3, 0) + Byte(5, 5) + Byte(2, 0));
  const ToolkitProfile profile;
  CompatMerger merger(profile);
  CHECK_FALSE(merger.Add(all));
  CHECK(merger.Add(Byte(9, 0)));
}

TEST_CASE("13.0 gives each tag a size of its own, and takes 08 of any input", "[format]") {
  const Bytes all = Byte(9, 0) + Byte(2, 1) + Byte(5, 5) + Half(7, 1, 1) + Byte(3, 0) + Byte(6, 2);
  CHECK(Merged({all, all + Byte(8, 3), all + Half(8, 1, 2)}, "13.0") == all + Half(8, 1, 2));
  const Bytes odd =
      Half(9, 0, 0) + Half(2, 1, 7) + Half(5, 5, 7) + Byte(7, 1) + Mask(3, 0xff) + Half(6, 2, 1);
  CHECK(Merged({odd}, "13.0") ==
        Byte(9, 0) + Byte(2, 1) + Byte(5, 5) + Half(7, 1, 0) + Byte(3, 8) + Byte(6, 2));
  CHECK(Merged({odd}, "13.1") ==
        Half(9, 0, 0) + Half(2, 1, 7) + Half(5, 5, 7) + Byte(7, 1) + Mask(3, 0xff));
}

TEST_CASE("Bits of tag 05 behind its two fields are the first input's", "[format]") {
  const auto joined = [](std::uint8_t one, std::uint8_t other) {
    return Merged({Byte(5, one), Byte(5, other)}, "13.1");
  };
  CHECK(joined(0xf5, 0x0a) == Byte(5, 0xfa));
  CHECK(joined(0x10, 0x25) == Byte(5, 0x10));
  CHECK(joined(0xaa, 0xff) == Byte(5, 0xaf));
  CHECK(joined(0xf5, 0) == Byte(5, 0));
}

TEST_CASE("The accelerator target is the link's", "[format]") {
  CHECK(Merged({Byte(9, 0)}, "13.1", true) == Byte(9, 1));
  CHECK(Merged({Byte(9, 1), Byte(9, 1)}, "13.1", false) == Byte(9, 0));
  CHECK(CompatMerger::OfTarget(true) == Byte(9, 1));
}

TEST_CASE("Tags that the first input lacks come from 13.1 on", "[format]") {
  CHECK(Merged({Byte(2, 1) + Byte(0x21, 1)}, "13.0") == Merged({Byte(2, 1)}, "13.0"));
  CHECK(Merged({Byte(2, 1), Byte(3, 1)}, "13.1") == Byte(2, 1) + Byte(3, 1));
}

TEST_CASE("Tags come and go with releases", "[format]") {
  const Bytes all = Byte(6, 1) + Mask(0x0b, 3);
  CHECK(Merged({all}, "13.0") ==
        Byte(9, 0) + Byte(6, 1) + Byte(2, 0) + Byte(3, 3) + Byte(5, 0) + Half(7, 0, 1));
  CHECK(Merged({all}, "13.1").empty());
  CHECK(Merged({all}, "13.2") == Mask(0x0b, 3));
  CHECK(Merged({all}, "13.3") == Mask(0x0b, 3) + Half(0x0d, 0, 1));
  CHECK(Merged({all}, "13.4") == Mask(0x0b, 3) + Byte(0x0c, 2) + Half(0x0d, 0, 1));
  CHECK(Merged({Byte(2, 1) + Byte(5, 1) + Half(0x0d, 0, 1) + Byte(0x0c, 1), Byte(2, 1)}, "13.5") ==
        Byte(2, 1) + Half(0x0d, 0, 1) + Byte(0x0c, 2));
}

TEST_CASE("Masks merge by and, unless one is empty", "[format]") {
  CHECK(Merged({Mask(0x0b, 6), Mask(0x0b, 3)}, "13.2") == Mask(0x0b, 2));
  CHECK(Merged({Mask(0x0b, 0), Mask(0x0b, 3)}, "13.2") == Mask(0x0b, 3));
}

TEST_CASE("Records of one tag in different forms are not merged", "[format]") {
  CHECK(Merged({Byte(2, 1), Mask(2, 0xff)}, "13.1") == Byte(2, 1));
  CHECK(Merged({Mask(2, 1), Byte(2, 0xff)}, "13.1") == Mask(2, 1));
  const Bytes short_one = {format::kInfoSized, 2, 4, 0, 1, 2, 3, 4};
  CHECK(Merged({short_one, Mask(2, 1)}, "13.1") == short_one);
}

TEST_CASE("Without a record of any input there is none", "[format]") {
  CHECK(Merged({}, "13.5").empty());
  CHECK(Merged({Bytes()}, "13.5").empty());
}

TEST_CASE("A cubin's compatibility record is checked", "[format]") {
  format::CompatFacts facts;
  CHECK(format::ReadCompat(Byte(2, 1) + Byte(9, 0), facts).ok());
  CHECK_FALSE(facts.architecture_specific);
  CHECK(format::ReadCompat(Byte(9, 1), facts).ok());
  CHECK(facts.architecture_specific);
  CHECK_FALSE(format::ReadCompat(Bytes{format::kInfoSized, 0x0b, 4, 0, 1, 2, 3, 4}, facts).ok());
  CHECK_FALSE(format::ReadCompat(Bytes{format::kInfoByteValue, 2}, facts).ok());
}

TEST_CASE("The CUDA note reads back, and changes in its own fields only", "[format]") {
  Bytes note = format::EncodeCudaInfo({.virtual_arch = 80, .toolkit = 130});
  REQUIRE(note.size() == 32);
  CHECK(format::ReadCudaInfo(note)->virtual_arch == 80);
  CHECK(format::ReadCudaInfo(note)->toolkit == 130);
  const Bytes expected = format::EncodeCudaInfo({.virtual_arch = 75, .toolkit = 135});
  format::PatchCudaInfo({.virtual_arch = 75, .toolkit = 135}, note);
  CHECK(note == expected);
  note.pop_back();
  CHECK_FALSE(format::ReadCudaInfo(note).has_value());
}

}  // namespace
}  // namespace devlink::testing
