// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/cubin_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "devlink-diff/cubin_view.h"
#include "format/elf_cuda.h"
#include "model/module.h"
#include "support/catch.h"
#include "support/recording_sink.h"
#include "unit/cubin_builder.h"
#include "write/residue_writer.h"

namespace devlink::testing {
namespace {

using diff::CubinView;
using diff::ViewCubin;
using diff::ViewSection;

constexpr std::uint64_t kTextFlags = format::kShfAlloc | format::kShfExec;

SectionHandle AddText(CubinWriter& writer, std::string_view name, std::uint64_t align = 128) {
  return writer.AddSection({.name = name, .type = 1, .flags = kTextFlags, .align = align});
}

std::vector<std::uint8_t> BytesOf(CubinWriter& writer, std::string_view section) {
  const auto bytes = writer.Write();
  REQUIRE(bytes.ok());
  const CubinView view = ViewCubin(*bytes);
  const ViewSection* found = view.Find(section);
  REQUIRE(found != nullptr);
  return {found->data.begin(), found->data.end()};
}

TEST_CASE("A written file reads back as what was added", "[write]") {
  CubinWriter writer({.sm = 90});
  const auto text = AddText(writer, ".text.k");
  const std::array<std::uint8_t, 32> code = {1, 2, 3};
  writer.Append(text, code);
  const auto local = writer.AddSymbol({.type = format::kSttSection, .section = text});
  const auto k = writer.AddSymbol({.name = "k",
                                   .binding = format::kStbGlobal,
                                   .type = format::kSttFunc,
                                   .other = format::kStoEntry,
                                   .section = text,
                                   .size = 32});
  writer.SetInfoSymbol(text, k, 17);
  CHECK(writer.SizeOf(text) == 32);
  auto bytes = writer.Write();
  REQUIRE(bytes.ok());
  const CubinView view = ViewCubin(*bytes);
  CHECK(view.problems.empty());
  const ViewSection* section = view.Find(".text.k");
  REQUIRE(section != nullptr);
  CHECK(section->offset % 128 == 0);
  CHECK(section->info == (17U << 24 | 2U));
  REQUIRE(view.symbols.size() == 3);
  CHECK(view.symbols[2].key == "k");
  CHECK(local != k);
  const auto module = internal::Module::Load(*bytes);
  REQUIRE(module.ok());
  CHECK((*module)->sm() == 90);
}

TEST_CASE("An executable has program headers", "[write]") {
  CubinWriter writer({.sm = 80, .executable = true});
  writer.AppendZeros(AddText(writer, ".text.k"), 128);
  const auto bytes = writer.Write();
  REQUIRE(bytes.ok());
  const CubinView view = ViewCubin(*bytes);
  CHECK(view.problems.empty());
  CHECK_FALSE(view.segments.empty());
}

TEST_CASE("Sections are sorted by category and keep their order within", "[write]") {
  CubinWriter writer({.sm = 80});
  AddText(writer, ".text.b");
  AddText(writer, ".text.a");
  writer.AddSection({.name = ".nv.info", .type = format::kShtCudaInfo, .align = 4});
  writer.AddSection({.name = ".debug_line", .type = 1});
  const auto bytes = writer.Write();
  REQUIRE(bytes.ok());
  std::vector<std::string> names;
  const CubinView view = ViewCubin(*bytes);
  for (const ViewSection& s : view.sections) names.push_back(s.name);
  CHECK(names == std::vector<std::string>{"", ".shstrtab", ".strtab", ".symtab", ".debug_line",
                                          ".nv.info", ".text.b", ".text.a"});
}

TEST_CASE("Contents come in the order in which they were appended", "[write]") {
  CubinWriter writer({.sm = 80});
  const auto section = writer.AddSection({.name = ".debug_x", .type = 1});
  const std::array<std::uint8_t, 3> three = {1, 2, 3};
  writer.Append(section, three);
  writer.Append(section, {});
  writer.AppendAligned(section, three, 8);
  writer.AppendZeros(section, 1);
  writer.AppendWord(section, 0x04030201);
  writer.AppendCopy(section, three);
  writer.AddAttribute(section, 3, 0x1b, 0x1ff);
  CHECK(BytesOf(writer, ".debug_x") == std::vector<std::uint8_t>{1, 2, 3, 0, 0,    0,    0, 0,
                                                                 1, 2, 3, 0, 1,    2,    3, 4,
                                                                 1, 2, 3, 3, 0x1b, 0xff, 1});
}

TEST_CASE("An attribute has its payload behind it, which may begin with a symbol", "[write]") {
  CubinWriter writer({.sm = 80});
  const auto section = writer.AddSection({.name = ".debug_x", .type = 1});
  const std::array<std::uint8_t, 2> two = {7, 8};
  writer.AddAttribute(section, 4, 0x0f, 2, two);
  const auto global = writer.AddSymbol({.name = "g", .binding = format::kStbGlobal});
  writer.AddSymbolAttribute(section, 0x2f, global, two);
  writer.AddSymbol({.name = "l"});  // comes before it in the file
  writer.AddSymbolAttribute(section, 0x12, global, {});
  CHECK(BytesOf(writer, ".debug_x") == std::vector<std::uint8_t>{4, 0x0f, 2,    0, 7, 8,  //
                                                                 4, 0x2f, 6,    0, 2, 0, 0, 0, 7,
                                                                 8, 4,    0x12, 4, 0, 2, 0, 0, 0});
}

TEST_CASE("A patch changes its bits and no others", "[write]") {
  struct Case {
    BitField field;
    std::uint64_t value;
  };
  // Within a byte, across borders, whole words, more value than field.
  const std::vector<Case> cases = {{{0, 1}, 1},        {{3, 2}, 2},
                                   {{7, 2}, 3},        {{5, 19}, 0x5a5a5},
                                   {{32, 32}, ~0ULL},  {{1, 64}, 0x123456789abcdef},
                                   {{40, 14}, 0x2bcd}, {{0, 64}, 42},
                                   {{0, 0}, 7},        {{63, 8}, 0x1ff}};
  for (const std::uint8_t background : {0x00, 0xff, 0xa5}) {
    for (const Case& c : cases) {
      CAPTURE(background, int{c.field.position}, int{c.field.width});
      CubinWriter writer({.sm = 80});
      const auto section = writer.AddSection({.name = ".debug_x", .type = 1});
      const std::vector<std::uint8_t> before(16, background);
      writer.Append(section, before);
      writer.Patch(section, 3, c.field, c.value);
      const auto after = BytesOf(writer, ".debug_x");
      REQUIRE(after.size() == before.size());
      bool as_expected = true;
      for (unsigned bit = 0; bit < 128; ++bit) {
        const unsigned first = 24U + c.field.position;
        const bool inside = bit >= first && bit < first + c.field.width;
        const bool expected =
            inside ? (c.value >> (bit - first) & 1) != 0 : (background >> (bit % 8) & 1) != 0;
        as_expected = as_expected && ((after[bit / 8] >> (bit % 8) & 1) != 0) == expected;
      }
      CHECK(as_expected);
      CHECK(std::all_of(before.begin(), before.end(),
                        [&](std::uint8_t b) { return b == background; }));
    }
  }
}

TEST_CASE("A patch outside its section is refused", "[write]") {
  for (const auto& [offset, width] : std::vector<std::pair<std::uint64_t, std::uint8_t>>{
           {8, 1}, {7, 9}, {1, 64}, {9, 0}, {~std::uint64_t{0}, 8}, {0, 65}}) {
    CAPTURE(offset, int{width});
    CubinWriter writer({.sm = 80});
    const auto section = writer.AddSection({.name = ".debug_x", .type = 1});
    writer.AppendZeros(section, 8);
    writer.Patch(section, offset, {0, width}, 1);
    CHECK(writer.Write().status().code() == absl::StatusCode::kInvalidArgument);
  }
  CubinWriter writer({.sm = 80});
  const auto zeroed = writer.AddSection(
      {.name = ".nv.global", .type = format::kShtNobits, .flags = 3, .nobits_size = 64});
  writer.Patch(zeroed, 0, {0, 8}, 1);
  CHECK(writer.Write().status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("Alignments that are not a power of two are refused", "[write]") {
  for (const std::uint64_t align : {std::uint64_t{0}, std::uint64_t{3}, ~std::uint64_t{0}}) {
    CubinWriter writer({.sm = 80});
    AddText(writer, ".text.k", align);
    CHECK(writer.Write().status().code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("References to what was never added are refused", "[write]") {
  const SectionHandle no_section{77};
  const SymbolHandle no_symbol{77};
  using Setup = void (*)(CubinWriter&, SectionHandle, SectionHandle, SymbolHandle);
  const std::vector<Setup> setups = {
      [](CubinWriter& w, SectionHandle s, SectionHandle bad, SymbolHandle) {
        w.SetInfoSection(s, bad);
      },
      [](CubinWriter& w, SectionHandle s, SectionHandle bad, SymbolHandle) {
        w.SetLinkSection(s, bad);
      },
      [](CubinWriter& w, SectionHandle s, SectionHandle, SymbolHandle bad) {
        w.SetInfoSymbol(s, bad);
      },
      [](CubinWriter& w, SectionHandle s, SectionHandle, SymbolHandle bad) {
        w.AppendSymbolIndex(s, bad);
      },
      [](CubinWriter& w, SectionHandle s, SectionHandle, SymbolHandle bad) {
        w.AddRelocation(s, 0, 1, bad, 0);
      },
      [](CubinWriter& w, SectionHandle, SectionHandle bad, SymbolHandle) {
        w.AddSymbol({.name = "x", .section = bad});
      },
      [](CubinWriter& w, SectionHandle, SectionHandle bad, SymbolHandle) {
        w.Patch(bad, 0, {0, 8}, 1);
      },
  };
  for (std::size_t i = 0; i < setups.size(); ++i) {
    CAPTURE(i);
    CubinWriter writer({.sm = 80});
    const auto section = AddText(writer, ".text.k");
    setups[i](writer, section, no_section, no_symbol);
    CHECK(writer.Write().status().code() == absl::StatusCode::kInvalidArgument);
  }
}

TEST_CASE("A file may have more sections than the header can count", "[write]") {
  std::vector<std::string> names;
  for (int i = 0; i < 0xff40; ++i) names.push_back(".debug_" + std::to_string(i));
  CubinWriter writer({.sm = 80}, {.sections = names.size()});
  for (const std::string& name : names) writer.AddSection({.name = name, .type = 1});
  const auto text = AddText(writer, ".text.k");
  writer.AppendZeros(text, 128);
  const auto function = writer.AddSymbol(
      {.name = "k", .binding = 1, .type = format::kSttFunc, .section = text, .size = 128});
  writer.SetInfoSymbol(text, function);
  auto bytes = writer.Write();
  REQUIRE(bytes.ok());
  const auto module = internal::Module::Load(*std::move(bytes));
  REQUIRE(module.ok());
  const auto sections = (*module)->sass().sections();
  CHECK(sections.size() >= names.size() + 5);
  const internal::InputSymbol k = (*module)->sass().SymbolAt(1);
  REQUIRE(k.section < sections.size());
  CHECK(sections[k.section].name == ".text.k");
}

TEST_CASE("Each symbol table of so many sections has wide indices of its own", "[write]") {
  constexpr std::uint32_t kMercury = 0x10000000;
  std::vector<std::string> names;
  for (int i = 0; i < 0xff40; ++i) names.push_back(".debug_" + std::to_string(i));
  for (const bool complete : {false, true}) {
    CubinWriter writer({.sm = 100});
    for (const std::string& name : names) writer.AddSection({.name = name, .type = 1});
    const auto text = AddText(writer, ".text.k");
    const auto capsule =
        writer.AddSection({.name = ".nv.capmerc.text.k", .type = 0x70000016, .flags = kMercury});
    writer.AppendZeros(text, 128);
    // Of eight instructions, all of which follow from machine code.
    writer.AppendSectionIndex(capsule, text);
    for (const std::uint32_t word : {0xc0000001U, 8U, 0xffU}) writer.AppendWord(capsule, word);
    const auto wide =
        complete ? writer.AddWideIndices({.name = ".nv.merc.symtab_shndx", .flags = kMercury}, true)
                 : kNoSection;
    const auto own = writer.AddSymbolTable({.name = ".nv.merc.symtab",
                                            .type = 0x70000085,
                                            .flags = kMercury,
                                            .align = 8,
                                            .entry_size = sizeof(format::Sym)});
    if (complete) writer.SetLinkSection(wide, own);
    writer.SetInfoSymbol(
        text,
        writer.AddSymbol({.name = "k", .type = format::kSttFunc, .section = text, .size = 128}));
    writer.SetInfoSymbol(
        capsule, writer.AddSymbol(
                     {.name = "k", .type = format::kSttFunc, .section = capsule, .table = own}));
    auto bytes = writer.Write();
    CHECK(bytes.ok() == complete);
    if (!complete) continue;
    const auto module = internal::Module::Load(*std::move(bytes));
    INFO(module.status());
    REQUIRE(module.ok());
    for (const auto view : {format::ViewKind::kSass, format::ViewKind::kMercury}) {
      const internal::ModuleView& read = (*module)->view(view);
      const internal::InputSymbol k = read.SymbolAt(1);
      CHECK(k.section > 0xff00);
      REQUIRE(k.section < read.section_count());
      CHECK(read.SectionAt(k.section).name == ".text.k");
      CHECK(read.SectionAt(k.section).size == (view == format::ViewKind::kSass ? 128 : 16));
    }
  }
}

TEST_CASE("Wide indices belong to a symbol table", "[write]") {
  CubinWriter writer({.sm = 80});
  const auto text = AddText(writer, ".text.k");
  writer.AddWideIndices({.name = ".symtab_shndx", .link = text}, true);
  CHECK(writer.Write().status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("A section may have a number of its own in the wide table", "[write]") {
  CubinWriter writer({.sm = 80, .wide_section_indices = true});
  const auto text = writer.AddSection({.name = ".text.k", .flags = 6});
  internal::ResidueWriter(writer).SetWideIndex(text, 0x1234);
  const auto other = writer.AddSection({.name = ".text.l", .flags = 6});
  writer.AppendZeros(text, 16);
  writer.AppendZeros(other, 16);
  writer.AddSymbol({.name = "k", .type = format::kSttFunc, .section = text});
  writer.AddSymbol({.name = "l", .type = format::kSttFunc, .section = other});
  const auto bytes = writer.Write();
  REQUIRE(bytes.ok());
  const base::BoundedReader file(*bytes);
  const auto headers = file.ReadOrZero<std::uint64_t>(40);
  const auto table = file.ReadOrZero<format::Shdr>(headers + 4 * sizeof(format::Shdr));
  REQUIRE(table.type == format::kShtSymtabShndx);
  CHECK(file.ReadOrZero<std::uint32_t>(table.offset + 4) == 0x1234);
  CHECK(file.ReadOrZero<std::uint32_t>(table.offset + 8) == 6);
}

TEST_CASE("Writing twice gives the same bytes", "[write]") {
  for (const bool wide : {false, true}) {
    CubinWriter writer({.sm = 80, .wide_section_indices = wide});
    const auto text = AddText(writer, ".text.k");
    writer.AppendZeros(text, 64);
    const auto k = writer.AddSymbol({.name = "k", .binding = 1, .type = 2, .section = text});
    writer.AddSymbol({.type = format::kSttSection, .section = text});
    writer.AppendSymbolIndex(text, k);
    const auto first = writer.Write();
    const auto second = writer.Write();
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    CHECK(*first == *second);
  }
}

TEST_CASE("A name that was entered before is the same with its handle", "[write]") {
  const auto write = [](bool with_handles) {
    CubinWriter writer({.sm = 80});
    const auto known = [&](NameHandle name) { return with_handles ? name : kNoName; };
    const std::string text_name = ".text.k";
    const NameHandle of_other = writer.AddName(kSectionNameTable, ".text.other");
    const NameHandle of_text = writer.AddName(kSectionNameTable, text_name);
    CHECK(writer.AddName(kSectionNameTable, std::string(text_name)) == of_text);
    CHECK(of_other != of_text);
    const NameHandle of_symbol = writer.AddName(kStringTable, "s");
    const NameHandle of_section_symbol = writer.AddName(kStringTable, text_name);
    const auto text = writer.AddSection({.name = text_name,
                                         .type = format::kShtProgbits,
                                         .flags = 6,
                                         .align = 128,
                                         .only_section_name = with_handles,
                                         .entered_name = known(of_text)});
    writer.AppendZeros(text, 64);
    writer.AddSymbol(
        {.type = format::kSttSection, .section = text, .entered_name = known(of_section_symbol)});
    writer.AddSymbol({.name = "s", .type = 2, .section = text, .entered_name = known(of_symbol)});
    writer.AddSymbol({.name = "late", .binding = 1, .type = 2, .section = text});
    return writer.Write();
  };
  const auto looked_for = write(false);
  REQUIRE(looked_for.ok());
  const auto known = write(true);
  REQUIRE(known.ok());
  CHECK(*known == *looked_for);
}

TEST_CASE("Completing the sections changes nothing but that none may follow", "[write]") {
  for (const bool wide : {false, true}) {
    const auto write = [wide](bool complete, bool late) {
      CubinWriter writer({.sm = 80, .wide_section_indices = wide});
      const auto text = AddText(writer, ".text.k");
      if (complete) internal::ResidueWriter(writer).CompleteSections();
      if (complete) internal::ResidueWriter(writer).CompleteSections();
      if (late) writer.AddName(kSectionNameTable, ".late");
      writer.AddSymbol({.name = ".text.k", .binding = 1, .type = 2, .section = text});
      writer.AddSymbol({.type = format::kSttSection, .section = text});
      return writer.Write();
    };
    const auto plain = write(false, false);
    REQUIRE(plain.ok());
    CHECK((*write(true, false) == *plain));
    CHECK(write(false, true).ok());
    CHECK(write(true, true).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

// A file of several pieces: sections with and without patches, larger and smaller than a piece.
struct LargeFile {
  LargeFile();

  std::vector<std::uint8_t> large = std::vector<std::uint8_t>(300'000);
  std::vector<std::string> names;
  std::vector<SectionHandle> texts;
  CubinWriter writer = CubinWriter({.sm = 80, .wide_section_indices = true});
};

LargeFile::LargeFile() {
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<std::uint8_t>(i * 7 / 3);
  for (int i = 0; i < 40; ++i) names.push_back(".text.k" + std::to_string(i));
  for (std::size_t i = 0; i < 40; ++i) {
    const auto text = texts.emplace_back(AddText(writer, names[i]));
    const std::size_t size = i % 4 == 0 ? large.size() : i * 37;
    writer.Append(text, std::span(large).first(size));
    writer.AppendZeros(text, i % 3 == 0 ? 1000 : 0);
    writer.Append(text, std::span(large).first(3));
    writer.AddSymbol({.type = format::kSttSection, .section = text});
  }
  // In no order, some twice: the last one stays.
  for (std::uint32_t i = 0; i < 40; i += 2) {
    writer.Patch(texts[i], 1, {0, 8}, 7);
    writer.Patch(texts[38 - i], 2, {4, 16}, i);
    writer.Patch(texts[i], 1, {0, 8}, i);
  }
}

TEST_CASE("What goes to a sink in pieces is what is written at once", "[write]") {
  LargeFile file;
  CubinWriter& writer = file.writer;
  const std::vector<std::uint8_t>& large = file.large;
  const auto size = writer.LayOut();
  const auto whole = writer.Write();
  REQUIRE(size.ok());
  REQUIRE(whole.ok());
  CHECK(*size == whole->size());
  RecordingSink sink;
  REQUIRE(writer.WriteTo(sink).ok());
  CHECK(sink.begun == 1);
  CHECK(sink.announced == whole->size());
  CHECK(sink.pieces > 10);
  CHECK((sink.bytes == *whole));

  const CubinView view = ViewCubin(*whole);
  CHECK(view.problems.empty());
  for (std::uint32_t i = 0; i < 40; ++i) {
    const ViewSection* section = view.Find(".text.k" + std::to_string(i));
    REQUIRE(section != nullptr);
    const std::size_t head = i % 4 == 0 ? large.size() : std::size_t{i} * 37;
    std::vector<std::uint8_t> expected(large.begin(),
                                       large.begin() + static_cast<std::ptrdiff_t>(head));
    expected.resize(head + (i % 3 == 0 ? 1000 : 0));
    expected.insert(expected.end(), large.begin(), large.begin() + 3);
    if (i % 2 == 0) {
      const std::uint32_t value = (38 - i) << 4;
      expected[1] = static_cast<std::uint8_t>(i);
      expected[2] = static_cast<std::uint8_t>((expected[2] & 0xf) | (value & 0xff));
      expected[3] = static_cast<std::uint8_t>(value >> 8);
      expected[4] = static_cast<std::uint8_t>((expected[4] & 0xf0) | value >> 16);
    }
    CHECK(std::equal(section->data.begin(), section->data.end(), expected.begin(), expected.end()));
  }
}

// Sections large enough to go to the sink as they are, patched and not, between small ones.
TEST_CASE("Threads write what one writes, whatever their number", "[write]") {
  LargeFile file;
  const SectionHandle plain = AddText(file.writer, ".text.plain");
  file.writer.Append(plain, file.large);
  file.writer.AppendZeros(plain, 1 << 20);
  const SectionHandle patched = AddText(file.writer, ".text.patched");
  file.writer.AppendZeros(patched, 17 << 20);
  file.writer.Patch(patched, 16 << 20, {0, 32}, 0x01234567);
  const SectionHandle behind = AddText(file.writer, ".text.behind");
  file.writer.Append(behind, std::span(file.large).first(100));
  const auto whole = file.writer.Write();
  REQUIRE(whole.ok());
  for (const unsigned workers : {1U, 2U, 3U, 8U}) {
    CAPTURE(workers);
    RecordingSink sink;
    REQUIRE(file.writer.WriteTo(sink, Environment::Default(), workers).ok());
    CHECK(sink.is_callers);
    CHECK(sink.begun == 1);
    CHECK(sink.announced == whole->size());
    CHECK((sink.bytes == *whole));
  }
  for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{5}}) {
    RecordingSink sink(limit);
    const absl::Status status = file.writer.WriteTo(sink, Environment::Default(), 3);
    CHECK(status.code() == absl::StatusCode::kDataLoss);
    CHECK(sink.pieces == limit);
  }
}

// Zeroes in front of a section are made as they are written.
TEST_CASE("Pieces that wait for the sink are small, whatever the alignment", "[write]") {
  LargeFile file;
  std::vector<std::string> names;
  for (int i = 0; i < 6; ++i) names.push_back(".text.aligned" + std::to_string(i));
  for (const std::string& name : names) {
    const SectionHandle text = AddText(file.writer, name, std::uint64_t{16} << 20);
    file.writer.Append(text, std::span(file.large).first(16));
  }
  const auto whole = file.writer.Write();
  REQUIRE(whole.ok());
  REQUIRE(whole->size() > std::size_t{64} << 20);
  RecordingSink sink;
  REQUIRE(file.writer.WriteTo(sink, Environment::Default(), 3).ok());
  CHECK(sink.largest <= std::size_t{4} << 20);
  CHECK((sink.bytes == *whole));
}

TEST_CASE("The first error of a sink is the writer's, and the last call", "[write]") {
  for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{5}}) {
    LargeFile file;
    RecordingSink sink(limit);
    const absl::Status status = file.writer.WriteTo(sink);
    CHECK(status.code() == absl::StatusCode::kDataLoss);
    CHECK(sink.pieces == limit);
    CHECK(file.writer.Write().ok());  // the file itself is sound
  }
}

TEST_CASE("Nothing reaches a sink of a file that cannot be", "[write]") {
  CubinWriter writer({.sm = 80});
  writer.Patch(AddText(writer, ".text.k"), 0, {0, 8}, 1);
  RecordingSink sink;
  CHECK(writer.LayOut().status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(writer.WriteTo(sink).code() == absl::StatusCode::kInvalidArgument);
  CHECK(writer.WriteTo(sink, Environment::Default(), 2).code() ==
        absl::StatusCode::kInvalidArgument);
  CHECK(sink.begun == 0);
}

}  // namespace
}  // namespace devlink::testing
