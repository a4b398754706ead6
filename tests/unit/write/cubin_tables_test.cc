// SPDX-License-Identifier: Apache-2.0
//
// What a file of sm_100 or later needs of the writer: two views with a symbol table each, bytes
// that belong to two sections, names in place of longer ones, room that is left free.
#include <elf.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/align.h"
#include "base/bounded_reader.h"
#include "devlink/experimental/cubin_writer.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

constexpr std::uint32_t kMercuryInfo = 0x70000083;
constexpr std::uint32_t kMercurySymtab = 0x70000085;
constexpr std::uint64_t kMercury = 0x10000000;

// The file's tables, read with nothing of the writer's.
struct Tables {
  explicit Tables(const std::vector<std::uint8_t>& bytes)
      : file(bytes), header(file.ReadOrZero<Elf64_Ehdr>(0)) {
    for (int i = 0; i < header.e_shnum; ++i) {
      sections.push_back(file.ReadOrZero<Elf64_Shdr>(header.e_shoff + sizeof(Elf64_Shdr) * i));
      const std::string name(Name(1, sections.back().sh_name));
      by_name.emplace(name, i);
    }
    for (int i = 0; i < header.e_phnum; ++i) {
      segments.push_back(file.ReadOrZero<Elf64_Phdr>(header.e_phoff + sizeof(Elf64_Phdr) * i));
    }
  }
  [[nodiscard]] std::string_view Name(std::size_t table, std::uint64_t offset) const {
    const auto names = file.ReadOrZero<Elf64_Shdr>(header.e_shoff + sizeof(Elf64_Shdr) * table);
    return file.CString(names.sh_offset + offset).value_or("<outside>");
  }
  [[nodiscard]] const Elf64_Shdr& At(const std::string& name) const {
    return sections.at(static_cast<std::size_t>(by_name.at(name)));
  }
  [[nodiscard]] Elf64_Sym Symbol(const std::string& table, std::uint64_t index) const {
    return file.ReadOrZero<Elf64_Sym>(At(table).sh_offset + sizeof(Elf64_Sym) * index);
  }
  [[nodiscard]] std::uint32_t Word(const std::string& section, std::uint64_t offset) const {
    return file.ReadOrZero<std::uint32_t>(At(section).sh_offset + offset);
  }

  base::BoundedReader file;
  Elf64_Ehdr header;
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Phdr> segments;
  std::map<std::string, int> by_name;
};

TEST_CASE("The example in the header makes a kernel", "[write]") {
  const std::vector<std::uint8_t> code(128, 0x18);
  CubinWriter w({.sm = 80});
  const auto text = w.AddSection({.name = ".text.k",
                                  .type = SHT_PROGBITS,
                                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                                  .align = 128,
                                  .link = kSymbolTable});
  const auto k = w.AddSymbol({.name = "k",
                              .binding = STB_GLOBAL,
                              .type = STT_FUNC,
                              .other = kKernelSymbol,
                              .section = text,
                              .size = code.size()});
  w.SetInfoSymbol(text, k, /*registers=*/8);
  w.Append(text, code);
  const auto bytes = w.Write();
  REQUIRE(bytes.ok());
  const Tables tables(*bytes);
  CHECK(tables.header.e_flags == (80U << 8 | 4));
  CHECK(tables.At(".text.k").sh_link == 3);
  CHECK(tables.At(".text.k").sh_info == (8U << 24 | 1));
  CHECK(tables.Symbol(".symtab", 1).st_shndx == 4);
}

TEST_CASE("Each view has its symbol table", "[write]") {
  CubinWriter w({.sm = 100});
  const auto text = w.AddSection({.name = ".text.k", .flags = 6, .link = kSymbolTable});
  const auto info = w.AddSection(
      {.name = ".nv.merc.nv.info", .type = kMercuryInfo, .flags = kMercury, .align = 4});
  const auto list = w.AddSection({.name = ".nv.merc.rela.text.k",
                                  .type = 0x70000082,
                                  .flags = kMercury,
                                  .align = 8,
                                  .entry_size = 24});
  const auto capsule = w.AddSection({.name = ".nv.capmerc.text.k", .flags = kMercury});
  const auto table = w.AddSymbolTable({.name = ".nv.merc.symtab",
                                       .type = kMercurySymtab,
                                       .flags = kMercury,
                                       .align = 8,
                                       .entry_size = sizeof(Elf64_Sym)});
  w.SetLinkSection(info, table);
  w.SetLinkSection(list, table);
  w.SetLinkSection(capsule, table);
  w.SetSymbolOrder(kSymbolTable, SymbolOrder::kAsAdded);
  // The plain view: a global symbol, and a local one behind it.
  const auto plain = w.AddSymbol({.name = "k", .binding = STB_GLOBAL, .section = text, .size = 64});
  w.AddSymbol({.type = STT_SECTION, .section = text});
  // The other: sorted, with other sizes.
  const auto f = w.AddSymbol(
      {.name = "f", .binding = STB_GLOBAL, .section = capsule, .size = 7, .table = table});
  const auto mercury = w.AddSymbol(
      {.name = "k", .binding = STB_GLOBAL, .section = capsule, .size = 48, .table = table});
  const auto local = w.AddSymbol({.name = "$k", .section = capsule, .table = table});
  w.SetInfoSymbol(text, plain, 3);
  w.SetInfoSymbol(capsule, mercury);
  w.AppendSymbolIndex(info, mercury);
  w.AppendSymbolIndex(info, local);
  w.AppendSectionIndex(capsule, text);
  w.AddRelocation(list, 16, 5, f, 0);
  w.AddRelocation(list, 32, 5, kNullSymbol, 0);

  const auto bytes = w.Write();
  REQUIRE(bytes.ok());
  const Tables tables(*bytes);
  CHECK(tables.header.e_flags == (100U << 8 | 2));
  const Elf64_Shdr& merc = tables.At(".nv.merc.symtab");
  CHECK(merc.sh_size == 4 * sizeof(Elf64_Sym));
  CHECK(merc.sh_link == 2);
  CHECK(merc.sh_info == 2);                  // behind `$k`
  CHECK(tables.At(".symtab").sh_info == 3);  // behind the section's symbol, which is the last
  CHECK(tables.At(".symtab").sh_size == 3 * sizeof(Elf64_Sym));
  CHECK(tables.Symbol(".symtab", 1).st_size == 64);
  CHECK(tables.Symbol(".nv.merc.symtab", 3).st_size == 48);
  CHECK(tables.Name(2, tables.Symbol(".symtab", 1).st_name) == "k");
  CHECK(tables.Symbol(".symtab", 1).st_name == tables.Symbol(".nv.merc.symtab", 3).st_name);
  CHECK(tables.At(".text.k").sh_info == (3U << 24 | 1));
  CHECK(tables.At(".nv.capmerc.text.k").sh_info == 3);
  CHECK(static_cast<int>(tables.At(".nv.merc.nv.info").sh_link) ==
        tables.by_name.at(".nv.merc.symtab"));
  CHECK(tables.Word(".nv.merc.nv.info", 0) == 3);
  CHECK(tables.Word(".nv.merc.nv.info", 4) == 1);
  CHECK(static_cast<int>(tables.Word(".nv.capmerc.text.k", 0)) == tables.by_name.at(".text.k"));
  CHECK(tables.Word(".nv.merc.rela.text.k", 12) == 2);
  CHECK(tables.Word(".nv.merc.rela.text.k", 24 + 12) == 0);
  // Names of sections of that view are not names of symbols.
  const Elf64_Shdr& strings = tables.At(".strtab");
  const std::string text_of(
      bytes->begin() + static_cast<std::ptrdiff_t>(strings.sh_offset),
      bytes->begin() + static_cast<std::ptrdiff_t>(strings.sh_offset + strings.sh_size));
  CHECK(text_of == std::string("\0.shstrtab\0.strtab\0.symtab\0.text.k\0$k\0k\0f\0", 42));
}

TEST_CASE("A symbol table may have a string table of its own", "[write]") {
  CubinWriter w({.sm = 80});
  const auto strings = w.AddStringTable({.name = ".other.strtab", .type = SHT_STRTAB});
  const auto table = w.AddSymbolTable(
      {.name = ".other", .type = SHT_SYMTAB, .align = 8, .entry_size = 24, .link = strings});
  w.AddSymbol({.name = "a", .table = table});
  w.AddSymbol({.name = "b", .binding = STB_GLOBAL, .table = table});
  w.AddName(strings, "c", {.padding = 3});
  w.AddName(strings, "c");
  w.AddName(strings, "c", {.shared = false});
  const auto bytes = w.Write();
  REQUIRE(bytes.ok());
  const Tables tables(*bytes);
  const auto index = static_cast<std::size_t>(tables.by_name.at(".other.strtab"));
  CHECK(tables.At(".other").sh_link == index);
  CHECK(tables.Name(index, tables.Symbol(".other", 1).st_name) == "a");
  CHECK(tables.Name(index, tables.Symbol(".other", 2).st_name) == "b");
  CHECK(tables.Symbol(".other", 2).st_name == 10);  // "\0a\0c\0\0\0\0c\0" before it
  CHECK(tables.At(".other.strtab").sh_size == 12);
}

TEST_CASE("Sections may share bytes, and bytes may be left unused", "[write]") {
  const std::array<std::uint8_t, 6> data = {1, 2, 3, 4, 5, 6};
  CubinWriter w({.sm = 100, .section_order = SectionOrder::kAsAdded});
  const auto part = w.AddSection({.name = ".part", .flags = kMercury});  // before its owner
  const auto owner = w.AddSection({.name = ".nv.constant3", .flags = SHF_ALLOC, .align = 4});
  const auto alias = w.AddSection({.name = ".nv.merc.nv.constant.user", .flags = kMercury});
  const auto next = w.AddSection({.name = ".debug_x", .align = 4});
  w.Append(owner, data);
  w.ShareBytes(alias, owner);
  w.ShareBytes(part, owner, 2);
  w.Append(next, data);
  w.SetGap(kStringTable, 36);
  w.SetGap(next, 3);
  const auto bytes = w.Write();
  REQUIRE(bytes.ok());
  const Tables tables(*bytes);
  const Elf64_Shdr& constants = tables.At(".nv.constant3");
  CHECK(tables.At(".nv.merc.nv.constant.user").sh_offset == constants.sh_offset);
  CHECK(tables.At(".nv.merc.nv.constant.user").sh_size == 6);
  CHECK(tables.At(".part").sh_offset == constants.sh_offset);
  CHECK(tables.At(".part").sh_size == 2);
  CHECK(tables.At(".debug_x").sh_offset == base::AlignUp(constants.sh_offset + 6 + 3, 4));
  CHECK(tables.Word(".debug_x", 0) == 0x04030201);
  CHECK(tables.At(".strtab").sh_offset ==
        tables.At(".shstrtab").sh_offset + tables.At(".shstrtab").sh_size + 36);
}

TEST_CASE("Segments cover what they are told to", "[write]") {
  const std::array<std::uint8_t, 6> data = {1, 2, 3, 4, 5, 6};
  CubinWriter w({.sm = 100, .executable = true, .section_order = SectionOrder::kAsAdded});
  const auto constants = w.AddSection({.name = ".nv.constant3", .flags = SHF_ALLOC});
  const auto init = w.AddSection({.name = ".nv.global.init", .flags = 3, .align = 8});
  const auto shared = w.AddSection(
      {.name = ".nv.shared.k", .type = SHT_NOBITS, .flags = 3, .align = 16, .nobits_size = 100});
  const auto global = w.AddSection(
      {.name = ".nv.global", .type = SHT_NOBITS, .flags = 3, .align = 8, .nobits_size = 8});
  const auto bank = w.AddSection({.name = ".nv.constant0.k", .flags = SHF_ALLOC, .align = 4});
  for (const SectionHandle section : {constants, init, bank}) w.Append(section, data);
  w.AddSegment({.type = PT_PHDR, .flags = PF_R});
  w.AddSegment({.flags = PF_R, .first = constants, .last = constants});
  w.AddSegment({.flags = PF_R | PF_W, .align = 16, .first = init, .last = global});
  w.AddSegment({.flags = PF_R, .first = bank, .last = bank});
  static_cast<void>(shared);
  const auto bytes = w.Write();
  REQUIRE(bytes.ok());
  const Tables tables(*bytes);
  REQUIRE(tables.segments.size() == 4);
  CHECK(tables.header.e_phoff + 4 * sizeof(Elf64_Phdr) == bytes->size());
  CHECK(tables.segments[0].p_offset == tables.header.e_phoff);
  CHECK(tables.segments[0].p_filesz == 4 * sizeof(Elf64_Phdr));
  CHECK(tables.segments[1].p_filesz == 6);
  CHECK(tables.segments[1].p_type == PT_LOAD);
  CHECK(tables.segments[2].p_offset == tables.At(".nv.global.init").sh_offset);
  CHECK(tables.segments[2].p_filesz ==
        tables.At(".nv.global").sh_offset - tables.At(".nv.global.init").sh_offset);
  CHECK(tables.segments[2].p_memsz == tables.segments[2].p_filesz + 104 + 8);
  CHECK(tables.segments[2].p_align == 16);
  CHECK(tables.segments[3].p_offset == tables.At(".nv.constant0.k").sh_offset);
}

TEST_CASE("e_flags may be given as a whole", "[write]") {
  const auto bytes = CubinWriter({.sm = 80, .flags = 0x12345678}).Write();
  REQUIRE(bytes.ok());
  CHECK(Tables(*bytes).header.e_flags == 0x12345678);
}

TEST_CASE("e_flags do not name another section than the note", "[write]") {
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back(".debug_" + std::to_string(i));
  for (const int count : {200, 300}) {
    CubinWriter writer({.sm = 80});
    for (int i = 0; i < count; ++i) writer.AddSection({.name = names[i], .type = SHT_PROGBITS});
    writer.AddSection({.name = ".note.nv.cuinfo", .type = SHT_NOTE});
    const auto bytes = writer.Write();
    REQUIRE(bytes.ok());
    const std::uint32_t flags = Tables(*bytes).header.e_flags;
    CAPTURE(count);
    CHECK(flags >> 24 == (count == 200 ? 204 : 255));
  }
}

TEST_CASE("What does not belong together is refused", "[write]") {
  struct Parts {
    CubinWriter w{{.sm = 80}};
    SectionHandle a = w.AddSection({.name = ".debug_a"});
    SectionHandle b = w.AddSection({.name = ".debug_b"});
    SectionHandle table = w.AddSymbolTable({.name = ".t", .align = 8, .entry_size = 24});
    SymbolHandle symbol = w.AddSymbol({.name = "s", .table = table});
  };
  const SectionHandle unknown{77};
  const std::vector<std::function<void(Parts&)>> mistakes = {
      [](Parts& p) { p.w.AddSymbol({.name = "x", .table = p.a}); },
      [](Parts& p) { p.w.AddName(p.a, "x"); },
      [](Parts& p) { p.w.AddName(kSymbolTable, "x"); },
      [](Parts& p) { p.w.SetSymbolOrder(kStringTable, SymbolOrder::kAsAdded); },
      [](Parts& p) { p.w.AddSymbolTable({.name = ".u", .link = p.a}); },
      [](Parts& p) { p.w.AppendWord(kStringTable, 1); },
      [](Parts& p) { p.w.AppendZeros(kSymbolTable, 1); },
      [](Parts& p) { p.w.Patch(kStringTable, 0, {0, 8}, 1); },
      [](Parts& p) {
        p.w.SetLinkSection(p.a, kSymbolTable);
        p.w.AddRelocation(p.a, 0, 1, p.symbol, 0);
      },
      [](Parts& p) { p.w.ShareBytes(p.a, p.a); },
      [](Parts& p) { p.w.ShareBytes(p.a, kStringTable); },
      [&](Parts& p) { p.w.ShareBytes(p.a, unknown); },
      [](Parts& p) { p.w.ShareBytes(p.a, p.b, 1); },  // has none
      [](Parts& p) {
        p.w.AppendWord(p.a, 1);
        p.w.ShareBytes(p.a, p.b);
      },
      [](Parts& p) {
        p.w.ShareBytes(p.a, p.b);
        p.w.AppendWord(p.a, 1);
      },
      [&](Parts& p) { p.w.AppendSectionIndex(p.a, unknown); },
      [&](Parts& p) { p.w.SetGap(unknown, 1); },
      [](Parts& p) { p.w.SetGap(p.a, ~std::uint64_t{0}); },
      [&](Parts& p) { p.w.AddSegment({.first = unknown, .last = p.a}); },
      [](Parts& p) { p.w.AddSegment({.first = p.a}); },
      [](Parts& p) { p.w.AddSegment({.first = p.b, .last = p.a}); },
      [](Parts& p) { p.w.AddSection({.name = ".debug_c", .entry_size = 256}); },
      [](Parts& p) { p.w.AddSection({.name = ".debug_c", .entered_name = NameHandle{99}}); },
      [](Parts& p) { p.w.AddSymbol({.name = "x", .entered_name = NameHandle{99}}); },
      [&](Parts& p) {
        const SectionHandle empty = p.w.AddStringTable({.name = ".none"});
        const SectionHandle table = p.w.AddSymbolTable({.name = ".u", .link = empty});
        p.w.AddSymbol({.name = "x", .table = table, .entered_name = NameHandle{0}});
      },
  };
  Parts fine;
  fine.w.SetLinkSection(fine.a, fine.table);
  fine.w.AddRelocation(fine.a, 0, 1, fine.symbol, 0);
  CHECK(fine.w.Write().ok());
  for (std::size_t i = 0; i < mistakes.size(); ++i) {
    CAPTURE(i);
    Parts parts;
    mistakes[i](parts);
    CHECK(parts.w.Write().status().code() == absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace devlink::testing
