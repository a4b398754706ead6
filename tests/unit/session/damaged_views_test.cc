// SPDX-License-Identifier: Apache-2.0
//
// Cubins whose two views do not agree: each field of each symbol of one of them is changed in turn,
// what each relocation refers to, and each word of the tables that name symbols.
// All kinds of links have to end, with an error or with a file; the sanitizers look at the rest.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounded_reader.h"
#include "devlink/link_session.h"
#include "format/elf_cuda.h"
#include "format/sections.h"
#include "format/views.h"
#include "model/module.h"
#include "support/catch.h"
#include "support/mercury_golden.h"
#include "support/process.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Where the entries of all sections of a type lie.
std::vector<std::size_t> EntriesOf(const Bytes& file, std::uint32_t type, std::size_t size) {
  std::vector<std::size_t> out;
  const base::BoundedReader reader(file);
  const auto header = reader.ReadOrZero<format::Ehdr>(0);
  for (std::uint32_t i = 0; i < header.shnum; ++i) {
    const auto section = reader.ReadOrZero<format::Shdr>(header.shoff + i * sizeof(format::Shdr));
    if (section.type != type) continue;
    for (std::uint64_t at = 0; at < section.size; at += size) out.push_back(section.offset + at);
  }
  return out;
}

// Where symbols lie, the null symbol left out.
std::vector<std::size_t> SymbolsOf(const Bytes& file, std::uint32_t table) {
  std::vector<std::size_t> out = EntriesOf(file, table, sizeof(format::Sym));
  out.erase(out.begin());
  return out;
}

struct WayToLink {
  bool relocatable = false;
  Compatibility compatibility = Compatibility::kDevlink;
};
constexpr std::array<WayToLink, 4> kWays = {
    {{},
     {.relocatable = true},
     {.compatibility = Compatibility::kNvlink},
     {.relocatable = true, .compatibility = Compatibility::kNvlink}}};

bool Links(const WayToLink& way, const Bytes& first, const Bytes& second) {
  LinkOptions options;
  options.target = *Arch::Parse("sm_100");
  options.finalize = FinalizeMode::kNever;
  options.relocatable = way.relocatable;
  options.compatibility = way.compatibility;
  auto session = LinkSession::Create(options);
  REQUIRE(session.ok());
  // What is said of a damaged input is among the outcome's words.
  const bool added =
      session->AddCubin("first", first).ok() && session->AddCubin("second", second).ok();
  const LinkOutcome outcome = session->Link();
  CHECK((outcome.ok() || !outcome.diagnostics.empty()));
  // An input is at fault, and the linker knows.
  for (const Diagnostic& diagnostic : outcome.diagnostics) {
    for (const std::string& note : diagnostic.notes) {
      CHECK((note.find("fault of the linker") == std::string::npos ? "" : diagnostic.text) == "");
    }
  }
  return added && outcome.ok();
}

TEST_CASE("Views that disagree about a symbol give an error or a file", "[session]") {
  struct Change {
    std::size_t offset = 0;
    std::vector<std::uint8_t> values;
  };
  const std::vector<Change> changes = {{offsetof(format::Sym, name), {1}},
                                       {offsetof(format::Sym, info), {0x00, 0x12, 0x1d}},
                                       {offsetof(format::Sym, other), {0x10, 0x20, 0xa0}},
                                       {offsetof(format::Sym, shndx), {0, 3}},
                                       {offsetof(format::Sym, value), {0x10, 0x40, 0x80, 0x87}},
                                       {offsetof(format::Sym, size), {0, 0x87}}};
  const Bytes first = MercuryGolden("first.cubin");
  const Bytes second = MercuryGolden("second.cubin");
  for (const WayToLink& way : kWays) REQUIRE(Links(way, first, second));
  int linked = 0;
  int refused = 0;
  for (const std::uint32_t table : {format::kShtSymtab, format::kShtMercurySymbols}) {
    const std::vector<std::size_t> symbols = SymbolsOf(first, table);
    REQUIRE(symbols.size() > 10);
    for (const std::size_t symbol : symbols) {
      for (const Change& change : changes) {
        for (const std::uint8_t value : change.values) {
          Bytes changed = first;
          if (changed[symbol + change.offset] == value) continue;
          changed[symbol + change.offset] = value;
          CAPTURE(table, symbol, change.offset, value);
          for (const WayToLink& way : kWays) ++(Links(way, changed, second) ? linked : refused);
        }
      }
    }
  }
  CHECK(linked > 100);
  CHECK(refused > 100);
}

TEST_CASE("Views that refer to other symbols give an error or a file", "[session]") {
  const Bytes first = MercuryGolden("first.cubin");
  const Bytes second = MercuryGolden("second.cubin");
  int linked = 0;
  int refused = 0;
  for (const auto& [type, table] :
       {std::pair(format::kShtRela, format::kShtSymtab),
        std::pair(format::kShtMercuryRela, format::kShtMercurySymbols)}) {
    const auto symbols = static_cast<std::uint32_t>(SymbolsOf(first, table).size());
    const std::vector<std::size_t> relocations = EntriesOf(first, type, sizeof(format::Rela));
    REQUIRE(relocations.size() > 10);
    std::uint32_t symbol = 0;
    for (const std::size_t relocation : relocations) {
      for (int i = 0; i < 8; ++i) {
        symbol = symbol % symbols + 1;
        Bytes changed = first;
        std::memcpy(changed.data() + relocation + offsetof(format::Rela, symbol), &symbol,
                    sizeof(symbol));
        CAPTURE(type, relocation, symbol);
        for (const WayToLink& way : {kWays[0], kWays[1]}) {
          ++(Links(way, changed, second) ? linked : refused);
        }
      }
    }
  }
  CHECK(linked > 100);
  CHECK(refused > 100);
}

TEST_CASE("Tables whose words name other symbols give an error or a file", "[session]") {
  const Bytes first = MercuryGolden("first.cubin");
  const Bytes second = MercuryGolden("second.cubin");
  const auto symbols =
      static_cast<std::uint32_t>(SymbolsOf(first, format::kShtMercurySymbols).size());
  const std::uint32_t mercury_info =
      format::MercuryWordsOf(format::SectionRole::kFunctionInfo)->type;
  int linked = 0;
  int refused = 0;
  for (const std::uint32_t type :
       {format::kShtCudaInfo, format::kShtCudaCallGraph, format::kShtCudaPrototype, mercury_info}) {
    const std::vector<std::size_t> words = EntriesOf(first, type, sizeof(std::uint32_t));
    std::uint32_t symbol = 0;
    for (const std::size_t word : words) {
      for (int i = 0; i < 3; ++i) {
        symbol = symbol % symbols + 1;
        Bytes changed = first;
        std::memcpy(changed.data() + word, &symbol, sizeof(symbol));
        CAPTURE(type, word, symbol);
        for (const WayToLink& way : {kWays[0], kWays[1]}) {
          ++(Links(way, changed, second) ? linked : refused);
        }
      }
    }
  }
  CHECK(linked > 100);
  CHECK(refused > 100);
}

// Of some types the field has no bytes, and a place behind the last one is as wrong.
TEST_CASE("No relocation applies to the end of a section", "[session]") {
  for (const std::string_view name : {"first.cubin", "second.cubin"}) {
    const Bytes whole = MercuryGolden(name);
    const base::BoundedReader reader(whole);
    const auto header = reader.ReadOrZero<format::Ehdr>(0);
    const auto section_at = [&](std::uint32_t i) {
      return reader.ReadOrZero<format::Shdr>(header.shoff + i * sizeof(format::Shdr));
    };
    int tried = 0;
    for (std::uint32_t i = 1; i < header.shnum; ++i) {
      const format::Shdr list = section_at(i);
      if (list.type != format::kShtRela && list.type != format::kShtRel) continue;
      const std::uint64_t end = section_at(list.info).size;
      const std::size_t step = format::SizeOfRelocation(list.type == format::kShtRela);
      for (std::uint64_t at = 0; at < list.size; at += step, ++tried) {
        Bytes changed = whole;
        std::memcpy(changed.data() + list.offset + at, &end, sizeof(end));
        CHECK_FALSE(internal::Module::Load(changed).ok());
      }
    }
    CHECK(tried > 10);
  }
}

TEST_CASE("A cubin without its second view is refused", "[session]") {
  const Bytes whole = MercuryGolden("first.cubin");
  Bytes cut = whole;
  const base::BoundedReader reader(whole);
  const auto header = reader.ReadOrZero<format::Ehdr>(0);
  std::uint16_t count = 0;  // of the sections before those of the view
  while (count < header.shnum) {
    const auto section =
        reader.ReadOrZero<format::Shdr>(header.shoff + count * sizeof(format::Shdr));
    if ((section.flags & format::kShfMercury) != 0) break;
    ++count;
  }
  REQUIRE(count < header.shnum);
  std::memcpy(cut.data() + offsetof(format::Ehdr, shnum), &count, sizeof(count));
  REQUIRE(internal::Module::Load(cut).ok());
  for (const WayToLink& way : kWays) {
    LinkOptions options;
    options.target = *Arch::Parse("sm_100");
    options.relocatable = way.relocatable;
    options.compatibility = way.compatibility;
    auto session = LinkSession::Create(options);
    REQUIRE(session.ok());
    CHECK_FALSE(session->AddCubin("cut", cut).ok());
    const auto told = session->diagnostics();
    REQUIRE(told.size() == 1);
    CHECK(told[0].text == "Input file 'cut' is damaged");
  }
}

}  // namespace
}  // namespace devlink::testing
