// SPDX-License-Identifier: Apache-2.0
//
// What was finalized in parts becomes the file that is finalized at once.
#include "finalize/join_parts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink/experimental/cubin_writer.h"
#include "format/elf_cuda.h"
#include "format/notes.h"
#include "format/nv_compat.h"
#include "support/catch.h"
#include "support/line_table.h"

namespace devlink::testing {
namespace {

using internal::FinalizedPart;
using internal::JoinParts;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kMercury = 0x10000000;
constexpr std::uint64_t kFrameHead = 32;  // bytes
constexpr std::uint32_t kCapsule = 0x70000016;

// A kernel as it is before or after it is finalized.
struct Code {
  std::uint8_t fill = 1;     // of its instructions,
  std::uint64_t size = 256;  // in bytes
  std::uint8_t exit = 0x40;  // where it ends
  Bytes capsule = {7, 7, 7, 7};
  std::uint8_t frame = 3;  // of what its frame says behind the address
  std::uint8_t table = 5;  // of its jump table's entry
  bool has_shared = false;
  unsigned rows = 0;  // of its lines
};

struct Linked {
  Code k;
  Code l;
  std::vector<Code> copies;  // of a function c
  std::uint64_t place_of_variable = 4;
  std::uint64_t mask = 9;
  std::uint32_t call_type = 0x4b;
  std::string callee = "l";
  std::int64_t place_in_callee = 0;
  std::string tool = "ours";
  std::uint8_t frame_head = 2;         // what all frames begin with
  std::uint8_t constant = 9;           // what constants hold beside tables
  std::int64_t place_in_table = 0x90;  // in Mercury code
  bool forgets_body = false;           // whose table k had before
  bool has_two_frames = false;         // of k
  // Both have lines, in that order. The smallest step of addresses stands in their unit's head.
  std::string lines;
  std::uint8_t step = 1;
};

class Writer {
 public:
  explicit Writer(const Linked& linked) : linked_(linked) {
    w_.SetGap(kStringTable, 36);
    AddOfAll();
    text_k_ = AddCode("k", linked.k);
    text_l_ = AddCode("l", linked.l);
    for (const Code& copy : linked.copies) copies_.push_back(AddCode("c", copy));
    AddRest("k", linked.k, text_k_, {linked.k.table, linked.l.table});  // for k calls l
    AddRest("l", linked.l, text_l_, {linked.l.table, linked.constant});
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      AddRest("c", linked.copies[i], copies_[i], {linked.constant, linked.constant});
    }
    const auto constants = w_.AddSection({.name = ".nv.constant3", .flags = 2, .align = 8});
    w_.AppendCopy(constants, Bytes(16, 1));
    const auto table = w_.AddSymbolTable({.name = ".nv.merc.symtab",
                                          .type = 0x70000085,
                                          .flags = kMercury,
                                          .align = 8,
                                          .entry_size = 24});
    AddCapsule("k", linked.k, 17, table);
    AddCapsule("l", linked.l, 18, table);
    std::uint8_t number = 19;
    for (const Code& copy : linked.copies) AddCapsule("c", copy, number++, table);
    const SectionHandle list_k = AddTableList("k");
    const SectionHandle list_l = AddTableList("l");
    const SymbolHandle k = AddSymbol("k", linked.k, text_k_);
    const SymbolHandle l = AddSymbol("l", linked.l, text_l_);
    AddEntry(list_k, 0, k);
    if (!linked.forgets_body) AddEntry(list_k, 0, k);
    AddEntry(list_k, 4, l);
    AddEntry(list_l, 0, l);
    std::vector<SymbolHandle> copies;
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      copies.push_back(AddSymbol("c", linked.copies[i], copies_[i]));
    }
    w_.AddSymbol({.name = "v",
                  .binding = 1,
                  .type = 1,
                  .section = constants,
                  .value = linked.place_of_variable,
                  .size = 4});
    // k calls l, and refers to the place behind the call.
    w_.AddRelocation(calls_, linked.k.exit, linked.call_type, linked.callee == "l" ? l : k,
                     linked.place_in_callee);
    w_.AddRelocation(calls_, linked.k.exit + 8U, 0x38, k, linked.k.exit + 16);
    AddFrame(k, linked.k);
    if (linked.has_two_frames) AddFrame(k, linked.k);
    AddFrame(l, linked.l);
    for (std::size_t i = 0; i < copies.size(); ++i) AddFrame(copies[i], linked.copies[i]);
    if (!linked.lines.empty()) AddLines(k, l);
  }

  Bytes Write() {
    auto bytes = w_.Write();
    if (!bytes.ok()) throw std::logic_error(bytes.status().ToString());
    return *std::move(bytes);
  }

 private:
  void AddOfAll() {
    frames_ = w_.AddSection({.name = ".debug_frame"});
    Bytes head(kFrameHead, linked_.frame_head);
    std::fill_n(head.begin(), 4, std::uint8_t{0xff});
    std::fill_n(head.begin() + 4, 8, std::uint8_t{0});
    head[4] = kFrameHead - 12;
    w_.AppendCopy(frames_, head);
    if (!linked_.lines.empty()) lines_ = w_.AddSection({.name = ".debug_line"});
    const auto note = w_.AddSection(
        {.name = format::kToolNoteName, .type = format::kShtNote, .flags = 0x2000000, .align = 4});
    w_.AppendCopy(note, format::EncodeToolRecord({.tool = linked_.tool, .version = "1"}));
    const auto compat =
        w_.AddSection({.name = ".nv.compat", .type = format::kShtCudaCompat, .align = 4});
    Bytes records = {2, 9, 0, 0};
    format::CompatMerger::AppendFastPath(linked_.mask, records);
    w_.AppendCopy(compat, records);
    frame_list_ = AddList(".rela.debug_frame", frames_);
    if (!linked_.lines.empty()) line_list_ = AddList(".rela.debug_line", lines_);
  }

  // The writer borrows names.
  std::string_view Named(const std::string& prefix, const std::string& name) {
    return names_.emplace_back(prefix + name);
  }

  SectionHandle AddList(std::string_view name, SectionHandle of) {
    const auto list = w_.AddSection({.name = name,
                                     .type = format::kShtRela,
                                     .flags = format::kShfInfoLink,
                                     .align = 8,
                                     .entry_size = 24,
                                     .link = kSymbolTable});
    w_.SetInfoSection(list, of);
    return list;
  }

  SectionHandle AddCode(const std::string& name, const Code& code) {
    const auto text = w_.AddSection({.name = Named(".text.", name), .flags = 6, .align = 128});
    w_.AppendCopy(text, Bytes(code.size, code.fill));
    return text;
  }

  void AddRest(const std::string& name, const Code& code, SectionHandle text,
               const std::array<std::uint8_t, 2>& constants) {
    const auto info = w_.AddSection({.name = Named(".nv.info.", name),
                                     .type = format::kShtCudaInfo,
                                     .flags = format::kShfInfoLink,
                                     .align = 4});
    w_.SetInfoSection(info, text);
    w_.AppendCopy(info, Bytes{4, 0x1c, 4, 0, code.exit, 0, 0, 0});
    if (name == "k") calls_ = AddList(".rela.text.k", text);
    const auto table = w_.AddSection(
        {.name = Named(".nv.constant2.", name), .flags = 2 | format::kShfInfoLink, .align = 4});
    w_.SetInfoSection(table, text);
    for (const std::uint8_t fill : constants) w_.AppendCopy(table, Bytes(4, fill));
    const auto parameters = w_.AddSection(
        {.name = Named(".nv.constant0.", name), .flags = 2 | format::kShfInfoLink, .align = 4});
    w_.SetInfoSection(parameters, text);
    w_.AppendCopy(parameters, Bytes(32));
    if (!code.has_shared) return;
    const auto shared = w_.AddSection({.name = Named(".nv.shared.", name),
                                       .type = format::kShtNobits,
                                       .flags = format::kKernelSharedFlags,
                                       .align = 16,
                                       .nobits_size = 1024});
    w_.SetInfoSection(shared, text);
  }

  void AddCapsule(const std::string& name, const Code& code, std::uint8_t number,
                  SectionHandle table) {
    const auto capsule = w_.AddSection({.name = Named(".nv.capmerc.text.", name),
                                        .type = kCapsule,
                                        .flags = kMercury,
                                        .align = 16,
                                        .link = table});
    Bytes bytes = {number, 0, 0, 0};
    bytes.insert(bytes.end(), code.capsule.begin(), code.capsule.end());
    w_.AppendCopy(capsule, bytes);
  }

  // Its symbols have the same numbers in both tables.
  SectionHandle AddTableList(const std::string& name) {
    const auto constants = w_.AddSection({.name = Named(".nv.merc.nv.constant.optimizer.", name),
                                          .type = 0x70000084,
                                          .flags = kMercury | 2,
                                          .align = 4});
    w_.AppendCopy(constants, Bytes(8));
    const auto list = w_.AddSection({.name = Named(".nv.merc.rela.nv.constant.optimizer.", name),
                                     .type = 0x70000082,
                                     .flags = kMercury | format::kShfInfoLink,
                                     .align = 8,
                                     .entry_size = 24,
                                     .link = kSymbolTable});
    w_.SetInfoSection(list, constants);
    return list;
  }

  void AddEntry(SectionHandle list, std::uint64_t offset, SymbolHandle function) {
    w_.AddRelocation(list, offset, 0x10008, function, linked_.place_in_table);
  }

  SymbolHandle AddSymbol(const std::string& name, const Code& code, SectionHandle text) {
    return w_.AddSymbol({.name = Named("", name),
                         .binding = 1,
                         .type = format::kSttFunc,
                         .other = kKernelSymbol,
                         .section = text,
                         .size = code.size});
  }

  // An entry: lengths, the place of its header, the address, and the rest.
  void AddFrame(SymbolHandle function, const Code& code) {
    constexpr std::uint8_t kLength = 32;
    Bytes entry(12 + kLength, code.frame);
    std::fill_n(entry.begin(), 4, std::uint8_t{0xff});
    std::fill_n(entry.begin() + 4, 24, std::uint8_t{0});
    entry[4] = kLength;
    w_.AppendCopy(frames_, entry);
    w_.AddRelocation(frame_list_, at_, 2, function, 0);
    at_ += entry.size();
  }

  void AddLines(SymbolHandle k, SymbolHandle l) {
    std::vector<Bytes> sequences;
    std::uint64_t at = kLineHeader;
    for (const char function : linked_.lines) {
      const bool is_k = function == 'k';
      const unsigned rows = is_k ? linked_.k.rows : linked_.l.rows;
      sequences.push_back(LineSequence(is_k ? 20 : 30, rows));
      w_.AddRelocation(line_list_, at + kLineAddress, 2, is_k ? k : l, 0);
      at += sequences.back().size();
    }
    w_.AppendCopy(lines_, LineUnit(sequences, linked_.step));
  }

  const Linked& linked_;
  std::deque<std::string> names_;
  CubinWriter w_{{.sm = 100, .executable = true, .section_order = SectionOrder::kAsAdded}};
  SectionHandle frames_ = kNoSection;
  SectionHandle frame_list_ = kNoSection;
  SectionHandle lines_ = kNoSection;
  SectionHandle line_list_ = kNoSection;
  SectionHandle text_k_ = kNoSection;
  SectionHandle text_l_ = kNoSection;
  std::vector<SectionHandle> copies_;
  SectionHandle calls_ = kNoSection;
  std::uint64_t at_ = kFrameHead + 20;
};

Bytes Write(const Linked& linked) { return Writer(linked).Write(); }

// Larger, with all in other places.
Code Finalized(std::uint8_t fill) {
  return {
      .fill = fill, .size = 384, .exit = 0x60, .capsule = {8, 8, 8, 8, 8}, .frame = 4, .table = 6};
}

// What stands in a part for code of another.
Code Nothing() { return {.fill = 0x18, .size = 128, .capsule = {0}, .frame = 0}; }

std::vector<FinalizedPart> PartsOf(const Linked& first, const Linked& second) {
  return {{.cubin = Write(first), .sections = {".text.k"}},
          {.cubin = Write(second), .sections = {".text.l"}}};
}

TEST_CASE("All that belongs to a function's code is taken from its part", "[parts]") {
  const Linked first{.k = Finalized(21), .l = Nothing(), .mask = 9, .tool = "theirs"};
  Linked second{.k = Nothing(), .l = Finalized(22), .mask = 1, .tool = "theirs"};
  const auto joined = JoinParts(Write({}), PartsOf(first, second));
  INFO(joined.status().message());
  REQUIRE(joined.ok());
  CHECK(joined->cubin == Write({.k = Finalized(21), .l = Finalized(22), .mask = 1}));
  CHECK(joined->finalized == std::vector<std::string>{"k", "l"});
  // Of code in several parts the first counts.
  auto parts = PartsOf(first, {.k = Finalized(99), .l = Finalized(22), .mask = 1});
  parts[1].sections.emplace_back(".text.k");
  const auto twice = JoinParts(Write({}), parts);
  REQUIRE(twice.ok());
  CHECK(twice->cubin == joined->cubin);
}

TEST_CASE("Where nothing changes the file stays", "[parts]") {
  const auto joined = JoinParts(Write({}), PartsOf({.l = Nothing()}, {.k = Nothing()}));
  INFO(joined.status().message());
  REQUIRE(joined.ok());
  CHECK(joined->cubin == Write({}));
  CHECK(joined->finalized.empty());
}

TEST_CASE("Functions of one name are told apart by their order", "[parts]") {
  const Linked own{.copies = {{}, {.fill = 2}}};
  Linked first{.k = Finalized(21), .l = Nothing(), .copies = {Finalized(23), Finalized(24)}};
  const Linked second{.k = Nothing(), .l = Finalized(22), .copies = {Nothing(), Nothing()}};
  const auto join = [&] {
    auto parts = PartsOf(first, second);
    parts[0].sections.emplace_back(".text.c");
    return JoinParts(Write(own), parts);
  };
  SECTION("all are there") {
    const auto joined = join();
    INFO(joined.status().message());
    REQUIRE(joined.ok());
    CHECK(
        joined->cubin ==
        Write({.k = Finalized(21), .l = Finalized(22), .copies = {Finalized(23), Finalized(24)}}));
    CHECK(joined->finalized == std::vector<std::string>{"k", "l", "c", "c"});
  }
  SECTION("not where one is missing") {
    first.copies.pop_back();
    CHECK(join().status().message().find("'.text.c'") != std::string_view::npos);
  }
}

TEST_CASE("An entry of a jump table is that of the part that has the code", "[parts]") {
  const Linked own;
  Linked first{.k = Finalized(21), .l = Nothing()};
  Linked second{.k = Nothing(), .l = Finalized(22)};
  first.l.table = 77;  // it cannot know
  second.k.table = 78;
  SECTION("also in the constants of another") {
    const auto joined = JoinParts(Write(own), PartsOf(first, second));
    INFO(joined.status().message());
    REQUIRE(joined.ok());
    CHECK(joined->cubin == Write({.k = Finalized(21), .l = Finalized(22)}));
  }
  SECTION("not where constants are others besides") {
    second.constant = 8;
    const auto joined = JoinParts(Write(own), PartsOf(first, second));
    CHECK(joined.status().message().find("'.nv.constant2.l'") != std::string_view::npos);
  }
  SECTION("nor where a part has tables elsewhere, in the constants of whichever function") {
    second.place_in_table = 0xa0;
    const auto joined = JoinParts(Write(own), PartsOf(first, second));
    CHECK(joined.status().message().find("'.nv.merc.rela.nv.constant.optimizer.k'") !=
          std::string_view::npos);
  }
  SECTION("nor those of a body that is gone, which our file does not have") {
    const auto joined = JoinParts(Write({.forgets_body = true}), PartsOf(first, second));
    CHECK(joined.status().message().find("'.nv.merc.rela.nv.constant.optimizer.k'") !=
          std::string_view::npos);
  }
}

TEST_CASE("A function with two frames is not put together", "[parts]") {
  CHECK(internal::CanBeJoined(Write({})).ok());
  const Bytes own = Write({.has_two_frames = true});
  const absl::Status can = internal::CanBeJoined(own);
  CHECK(can.code() == absl::StatusCode::kUnimplemented);
  CHECK(can.message() == "'k' has two frames");
  CHECK(JoinParts(own, PartsOf({.l = Nothing()}, {.k = Nothing()})).status() == can);
  CHECK_FALSE(internal::CanBeJoined({}).ok());
}

TEST_CASE("The code is for those relatives for which each part is", "[parts]") {
  const auto joined = JoinParts(Write({}), PartsOf({.l = Nothing()}, {.k = Nothing(), .mask = 1}));
  REQUIRE(joined.ok());
  CHECK(joined->cubin == Write({.mask = 1}));
}

// Finalized code has more rows here, and what stands in the place of other code has none.
Linked WithLines(Code k, unsigned rows_of_k, Code l, unsigned rows_of_l, const std::string& lines) {
  k.rows = rows_of_k;
  l.rows = rows_of_l;
  return {.k = std::move(k), .l = std::move(l), .lines = lines};
}

TEST_CASE("Lines are those of the part that has the code", "[parts][lines]") {
  const Linked own = WithLines({}, 1, {}, 2, "kl");
  const Linked first = WithLines(Finalized(21), 5, Nothing(), 0, "k");
  Linked second;
  SECTION("a part without the lines of other code") {
    second = WithLines(Nothing(), 0, Finalized(22), 9, "l");
  }
  SECTION("a part with them, in another order") {
    second = WithLines(Nothing(), 7, Finalized(22), 9, "lk");
  }
  const auto joined = JoinParts(Write(own), PartsOf(first, second));
  INFO(joined.status().message());
  REQUIRE(joined.ok());
  CHECK(joined->cubin == Write(WithLines(Finalized(21), 5, Finalized(22), 9, "kl")));
}

TEST_CASE("Lines that are not those of the same program are not taken", "[parts][lines]") {
  const Linked own = WithLines({}, 1, {}, 2, "kl");
  const Linked first = WithLines(Finalized(21), 5, Nothing(), 0, "k");
  Linked second = WithLines(Nothing(), 0, Finalized(22), 9, "l");
  SECTION("another unit") { second.step = 4; }
  SECTION("none of the function") { second.lines = "k"; }
  SECTION("twice") { second.lines = "ll"; }
  SECTION("no table") { second.lines = ""; }
  const auto joined = JoinParts(Write(own), PartsOf(first, second));
  REQUIRE(joined.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(joined.status().message().find("'.debug_line'") != std::string_view::npos);
}

TEST_CASE("A part of another program is not taken", "[parts]") {
  Linked own;
  Linked first{.k = Finalized(21), .l = Nothing()};
  const Linked second{.k = Nothing(), .l = Finalized(22)};
  std::string what;
  SECTION("variables lie elsewhere") {
    first.place_of_variable = 8;
    what = "'v'";
  }
  SECTION("another kind of call") {
    first.call_type = 0x4c;
    what = "'.rela.text.k'";
  }
  SECTION("a call of another function") {
    first.callee = "k";
    what = "'.rela.text.k'";
  }
  SECTION("a place in another function, of which this part knows nothing") {
    own.place_in_callee = first.place_in_callee = 16;
    what = "'.rela.text.k'";
  }
  SECTION("frames that begin otherwise") {
    first.frame_head = 7;
    what = "'.debug_frame'";
  }
  SECTION("shared memory that we do not know") {
    first.k.has_shared = true;
    what = "'.text.k'";
  }
  const auto joined = JoinParts(Write(own), PartsOf(first, second));
  REQUIRE(joined.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(joined.status().message().find(what) != std::string_view::npos);
}

TEST_CASE("Code that no part has, and files that are none", "[parts]") {
  auto parts = PartsOf({.l = Nothing()}, {.k = Nothing()});
  CHECK_FALSE(JoinParts({}, parts).ok());
  auto cut = parts;
  cut[1].cubin.resize(100);
  CHECK_FALSE(JoinParts(Write({}), cut).ok());
  auto unknown = parts;
  unknown[1].sections.emplace_back(".text.m");
  CHECK_FALSE(JoinParts(Write({}), unknown).ok());
  parts[1].sections.clear();
  const auto joined = JoinParts(Write({}), parts);
  CHECK(joined.status().message().find("'.text.l'") != std::string_view::npos);
}

TEST_CASE("Whatever byte of a part is another, the file is one, or there is none", "[parts]") {
  const auto parts =
      PartsOf(WithLines(Finalized(21), 5, Nothing(), 0, "k"), WithLines(Nothing(), 0, {}, 2, "l"));
  const Bytes own = Write(WithLines({}, 1, {}, 2, "kl"));
  REQUIRE(JoinParts(own, parts).ok());
  for (std::size_t i = 0; i < parts[0].cubin.size(); ++i) {
    auto damaged = parts;
    damaged[0].cubin[i] ^= 0xff;
    const auto joined = JoinParts(own, damaged);
    if (joined.ok()) CHECK(joined->cubin.size() < 4 * own.size());
  }
}

}  // namespace
}  // namespace devlink::testing
