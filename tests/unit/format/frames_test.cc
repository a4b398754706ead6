// SPDX-License-Identifier: Apache-2.0
//
// Entries of `.debug_frame` are found, and taken out with their heads.
#include "format/frames.h"

#include <cstdint>
#include <vector>

#include "base/value_bytes.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

// As ptxas writes it: escape, length, place of the CIE, rest.
void AddEntry(Bytes& out, std::uint64_t cie, std::uint64_t rest) {
  base::AppendValue(out, format::kFrameEscape);
  base::AppendValue(out, std::uint64_t{sizeof(cie) + rest});
  base::AppendValue(out, cie);
  out.resize(out.size() + rest, static_cast<std::uint8_t>(out.size()));
}

constexpr std::uint64_t kIsCie = ~std::uint64_t{0};
constexpr std::uint64_t kRest = 24;
constexpr std::uint64_t kCieSize = format::kFrameHead + sizeof(kIsCie) + 8;
constexpr std::uint64_t kCodeSize = format::kFrameHead + sizeof(kIsCie) + kRest;

// Three functions; the second and the third have a CIE in common.
Bytes ThreeFrames(bool with_places) {
  Bytes out;
  AddEntry(out, kIsCie, 8);
  AddEntry(out, 0, kRest);
  const std::uint64_t cie = out.size();
  AddEntry(out, kIsCie, 8);
  AddEntry(out, with_places ? cie : 0, kRest);
  AddEntry(out, with_places ? cie : 0, kRest);
  return out;
}

TEST_CASE("Frames stand behind their CIE", "[frames]") {
  const auto frames = format::SplitFrames(ThreeFrames(false));
  REQUIRE(frames.has_value());
  REQUIRE(frames->size() == 3);
  CHECK((*frames)[0].cie.begin == 0);
  CHECK((*frames)[0].code.begin == kCieSize);
  CHECK((*frames)[1].cie.begin == kCieSize + kCodeSize);
  CHECK((*frames)[2].cie.begin == kCieSize + kCodeSize);
  CHECK((*frames)[2].code.size == kCodeSize);
  CHECK(format::SplitFrames({})->empty());
}

TEST_CASE("What is left of frames is said at its new place", "[frames]") {
  for (const bool with_places : {false, true}) {
    const Bytes whole = ThreeFrames(with_places);
    const std::uint64_t second = 2 * kCieSize + kCodeSize;
    const auto kept = format::KeepFrames(whole, [&](std::uint64_t address) {
      return address == second + kCodeSize + format::kFrameAddressField;
    });
    REQUIRE(kept.has_value());
    CHECK(kept->bytes.size() == kCieSize + kCodeSize);
    CHECK(kept->PlaceOf(kCieSize + kCodeSize) == 0);  // the CIE
    CHECK(kept->PlaceOf(second + kCodeSize + format::kFrameRangeField) ==
          kCieSize + format::kFrameRangeField);
    CHECK_FALSE(kept->PlaceOf(0).has_value());
    CHECK_FALSE(kept->PlaceOf(second).has_value());
    CHECK_FALSE(kept->PlaceOf(whole.size()).has_value());
    const auto frames = format::SplitFrames(kept->bytes);
    REQUIRE(frames.has_value());
    CHECK(frames->size() == 1);
    // Wherever it was, it is first now.
    CHECK(base::BoundedReader(kept->bytes)
              .ReadOrZero<std::uint64_t>(kCieSize + format::kFrameCieField) == 0);
  }
  // A common CIE stays once.
  const auto all = format::KeepFrames(ThreeFrames(true), [](std::uint64_t) { return true; });
  REQUIRE(all.has_value());
  CHECK(all->bytes == ThreeFrames(true));
}

TEST_CASE("Frames of another form are left alone", "[frames][damage]") {
  const auto keep_all = [](std::uint64_t) { return true; };
  Bytes cut = ThreeFrames(false);
  cut.pop_back();
  CHECK_FALSE(format::SplitFrames(cut).has_value());
  CHECK_FALSE(format::KeepFrames(cut, keep_all).has_value());
  Bytes short_form = ThreeFrames(false);
  short_form[0] = 0;
  CHECK_FALSE(format::SplitFrames(short_form).has_value());
  Bytes small;
  AddEntry(small, kIsCie, 8);
  AddEntry(small, 0, 8);  // has no size of the code
  CHECK_FALSE(format::SplitFrames(small).has_value());
  Bytes headless;
  AddEntry(headless, 0, kRest);
  CHECK(format::SplitFrames(headless).has_value());
  CHECK_FALSE(format::KeepFrames(headless, keep_all).has_value());
  Bytes foreign;
  AddEntry(foreign, kIsCie, 8);
  AddEntry(foreign, 4000, kRest);  // the place of no CIE
  CHECK_FALSE(format::KeepFrames(foreign, keep_all).has_value());
}

Bytes EntryWith(const Bytes& instructions) {
  Bytes out(format::kFrameInstructions);
  out.insert(out.end(), instructions.begin(), instructions.end());
  return out;
}

TEST_CASE("Instructions of a frame stand at places in code", "[frames]") {
  // By nothing and 0x20 on: where the caller's stack is; by 3 and 0x102 on: where a register is, in
  // two forms; an expression.
  const Bytes entry = EntryWith({0x04, 0, 0,    0,    0,    0x0c, 0x81, 0x01, 0, 0x04, 0x20, 0,
                                 0,    0, 0x0c, 0x81, 0x01, 0x10, 0x43, 0x85, 2, 0x03, 0x02, 0x01,
                                 0x05, 9, 0x81, 0x01, 0x10, 4,    2,    7,    7, 0,    0});
  const auto program = format::ReadFrameProgram(entry);
  REQUIRE(program.has_value());
  REQUIRE(program->instructions.size() == 5);
  CHECK(program->end == format::kFrameInstructions + 33);
  const auto is = [&](std::size_t i, std::uint64_t place, std::uint64_t begin, std::uint64_t end) {
    const format::FrameInstruction& at = program->instructions[i];
    return at.place == place && at.begin == format::kFrameInstructions + begin &&
           at.end == format::kFrameInstructions + end;
  };
  CHECK(is(0, 0, 5, 9));
  CHECK(is(1, 0x20, 14, 18));
  CHECK(is(2, 0x23, 19, 21));
  CHECK(is(3, 0x125, 24, 28));
  CHECK(is(4, 0x125, 28, 33));
}

TEST_CASE("Instructions of a frame that end within one, or are not known, are refused",
          "[frames]") {
  for (const Bytes& damaged : {Bytes{0x04, 0, 0}, Bytes{0x0c, 1}, Bytes{0x0c, 0x81, 0x81},
                               Bytes{0x10, 1, 9, 0}, Bytes{0x0f}, Bytes{0x3f}, Bytes{0x85},
                               Bytes{0x01, 0, 0, 0, 0, 0, 0, 0, 0}, Bytes(12, 0x0e)}) {
    const bool is_whole = damaged.size() == 12;
    CHECK(format::ReadFrameProgram(EntryWith(damaged)).has_value() == is_whole);
  }
  CHECK(format::ReadFrameProgram(EntryWith({}))->instructions.empty());
  CHECK(format::ReadFrameProgram(Bytes(8))->instructions.empty());
}

}  // namespace
}  // namespace devlink::testing
