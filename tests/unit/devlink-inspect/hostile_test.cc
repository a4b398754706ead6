// SPDX-License-Identifier: Apache-2.0
//
// What is shown of files that are damaged, or made to be a burden: something, and always JSON.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "devlink/experimental/fatbin_writer.h"
#include "format/elf_cuda.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/fatbin_builder.h"
#include "support/host_object.h"
#include "support/lto_container.h"
#include "unit/cubin_builder.h"
#include "unit/devlink-inspect/shown.h"

namespace devlink::testing {
namespace {

// All forms; JSON is parsed.
void Show(ByteVector bytes) {
  bytes.shrink_to_fit();  // so that a sanitizer sees a read past the end
  const ShownText text = AsText(bytes, inspect::Choice::Everything());
  const ShownText json = AsJson(bytes, inspect::Choice::Everything());
  CHECK_FALSE(text.text.empty());
  CHECK(text.problems == json.problems);
  (void)FileIn(json.text);
  const ShownText page = AsPageData(bytes, inspect::Choice::Everything());
  CHECK(text.problems == page.problems);
  (void)FileIn(page.text, /*is_page=*/true);
}

Cubin Small() {
  return BuildCubin({.functions = {{.name = "k", .calls = {"f"}, .kernel = true}, {.name = "f"}},
                     .global_bytes = 4});
}

ByteVector SmallFatbin() {
  FatbinWriter writer({.mode = FatbinCompressMode::kSpeed, .compress_all = true});
  REQUIRE(writer.AddCubin(Small(), Arch{.number = 80}).ok());
  REQUIRE(writer.AddPtx(".version 8.0\n.target sm_75\n.func f;", Arch{.number = 75}, "-O1").ok());
  return *writer.Write();
}

std::vector<ByteVector> Files() {
  return {Small(),
          SmallFatbin(),
          MakeHostObjectWithFatbin(SmallFatbin(), {}),
          BuildArchive({{"f", SmallFatbin()}, {"t", ToBytes("text")}}),
          MakeLtoContainer(Arch{.number = 90}, "code"),
          ToBytes(".version 8.0\n.target sm_75 // c\n.entry k() { bra L; /* x */ }\n.func f;")};
}

TEST_CASE("Any byte of a file may be wrong", "[inspect]") {
  for (const ByteVector& whole : Files()) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
      constexpr std::array kChanges = {0x01, 0x80, 0xff};
      ByteVector bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ kChanges[at % kChanges.size()]);
      Show(std::move(bytes));
    }
  }
}

TEST_CASE("A file may end anywhere", "[inspect]") {
  for (const ByteVector& whole : Files()) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      Show({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    }
  }
}

// Real ones are larger: some of their bytes, all of those of headers.
TEST_CASE("Compilers' cubins may be damaged", "[inspect]") {
  for (const char* name : {"common.sm_75.1.cubin", "mercury/first.cubin"}) {
    const ByteVector whole = Golden(name);
    for (std::size_t at = 0; at < whole.size(); at += at < 64 ? 1 : 37) {
      ByteVector bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ 0xff);
      Show(std::move(bytes));
    }
    for (std::size_t size = 0; size < whole.size(); size += 91) {
      Show({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    }
  }
}

// Every symbol has one name, as long as the file has room for it.
TEST_CASE("Names that are shown a million times are not all shown", "[inspect]") {
  constexpr std::size_t kSymbols = 200'000;
  std::string names(1, '\0');
  names += std::string(5000, 'n');
  format::Sym symbol = {};
  symbol.name = 1;
  std::string symbols;
  for (std::size_t i = 0; i < kSymbols; ++i) {
    symbols.append(reinterpret_cast<const char*>(&symbol), sizeof(symbol));
  }
  ByteVector file =
      BuildElf({{".strtab", names, format::kShtStrtab}, {".symtab", symbols, format::kShtSymtab}},
               {.machine = format::kMachineCuda});
  // The table's names are those of the section before it.
  format::Ehdr header;
  std::memcpy(&header, file.data(), sizeof(header));
  for (std::uint64_t i = 0; i < header.shnum; ++i) {
    format::Shdr section;
    std::uint8_t* place = file.data() + header.shoff + i * sizeof(section);
    std::memcpy(&section, place, sizeof(section));
    if (section.type == format::kShtSymtab) section.link = static_cast<std::uint32_t>(i - 1);
    std::memcpy(place, &section, sizeof(section));
  }
  const ShownText shown = AsText(file, {.symbols = true});
  CHECK(shown.text.find("there are more names than the file can hold") != std::string::npos);
  CHECK(shown.text.size() < (std::size_t{1} << 27));
}

// Each object holds the same bytes again and again.
TEST_CASE("Sections that overlap are not unpacked without end", "[inspect]") {
  std::string fatbin;
  {
    FatbinWriter writer({.mode = FatbinCompressMode::kSize, .compress_all = true});
    Cubin cubin = Small();
    cubin.resize(std::size_t{1} << 26);
    REQUIRE(writer.AddCubin(cubin, Arch{.number = 80}).ok());
    const ByteVector bytes = *writer.Write();
    fatbin.assign(bytes.begin(), bytes.end());
  }
  std::vector<ElfSection> sections;
  for (int i = 0; i < 12; ++i) sections.push_back({"__nv_relfatbin", fatbin});
  const ShownText shown = AsText(BuildElf(sections), {.summary = true, .most_rows = 5});
  CHECK(shown.text.find("larger than a file of this size can hold") != std::string::npos);
}

TEST_CASE("Archives within archives end", "[inspect]") {
  ByteVector archive = BuildArchive({{"k.cubin", Small()}});
  for (int i = 0; i < 20; ++i) archive = BuildArchive({{"a.a", archive}});
  const ShownText shown = AsText(archive, inspect::Choice::Everything());
  CHECK(shown.problems == 1);
  CHECK(shown.text.find("nested too deeply") != std::string::npos);
}

TEST_CASE("No name becomes markup or script of a page", "[inspect]") {
  const std::string harm = "</script><script>harm()</script><!--<script>\\u003c\x1b\u202e\"&";
  const Cubin cubin = BuildCubin({.functions = {{.name = harm, .kernel = true}}});
  const ShownText page = AsPageData(cubin, inspect::Choice::Everything(), harm + ".cubin");
  CHECK(page.text.find('<') == std::string::npos);
  const llvm::json::Object file = FileIn(page.text, /*is_page=*/true);
  CHECK(StringIn(file, "name") ==
        "</script><script>harm()</script><!--<script>\\u003c\\x1b\\u202e\"&.cubin");
  CHECK(ListIn(file, "tables").size() >= 4);
}

}  // namespace
}  // namespace devlink::testing
