// SPDX-License-Identifier: Apache-2.0
//
// Cubins that no tool writes, each made to have a later pass read what is not there or do more work
// than the file is worth.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "format/elf_cuda.h"
#include "model/module.h"
#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

using internal::Module;

// Without a tool's name it is not held to what all of NVIDIA's files have.
Cubin HostileSample(bool names_tool = true) {
  return BuildCubin(
      {.names_tool = names_tool,
       .functions = {{.name = "kernel", .calls = {"helper", "elsewhere"}, .kernel = true},
                     {.name = "helper"}},
       .global_bytes = 24});
}

template <typename T>
T At(const Cubin& bytes, std::uint64_t offset) {
  T out;
  std::memcpy(&out, bytes.data() + offset, sizeof(out));
  return out;
}

// Calls `change` with the header of the first section of a type.
void ChangeSection(Cubin& bytes, std::uint32_t type,
                   const std::function<void(format::Shdr&)>& change) {
  const auto header = At<format::Ehdr>(bytes, 0);
  for (unsigned i = 0; i < header.shnum; ++i) {
    const std::uint64_t at = header.shoff + i * sizeof(format::Shdr);
    auto section = At<format::Shdr>(bytes, at);
    if (section.type != type) continue;
    change(section);
    std::memcpy(bytes.data() + at, &section, sizeof(section));
    return;
  }
}

// Calls `change` with every symbol.
void ChangeSymbols(Cubin& bytes, const std::function<void(format::Sym&)>& change) {
  ChangeSection(bytes, format::kShtSymtab, [&](format::Shdr& table) {
    for (std::uint64_t at = table.offset; at < table.offset + table.size;
         at += sizeof(format::Sym)) {
      auto symbol = At<format::Sym>(bytes, at);
      change(symbol);
      std::memcpy(bytes.data() + at, &symbol, sizeof(symbol));
    }
  });
}

std::string Refusal(Cubin bytes) {
  const auto module = Module::Load(std::move(bytes));
  return module.ok() ? "" : std::string(module.status().message());
}

TEST_CASE("Functions and variables lie in sections, whatever number stands for none", "[hostile]") {
  for (const unsigned type : {format::kSttFunc, format::kSttObject}) {
    for (std::uint32_t index = format::kShnLoReserve; index <= 0xffff; ++index) {
      // A variable may be common, with an alignment for a value.
      if (type == format::kSttObject && index == 0xfff2) continue;
      Cubin bytes = HostileSample();
      ChangeSymbols(bytes, [&](format::Sym& symbol) {
        if ((symbol.info & 15U) == type && symbol.shndx != 0) {
          symbol.shndx = static_cast<std::uint16_t>(index);
        }
      });
      if (Refusal(bytes).empty()) FAIL_CHECK("type " << type << " in section " << index);
    }
  }
}

TEST_CASE("A symbol that only its file can define is defined there", "[hostile]") {
  Cubin bytes = HostileSample();
  int changed = 0;
  ChangeSymbols(bytes, [&](format::Sym& symbol) {
    if (symbol.shndx != format::kShnUndef || (symbol.info & 15U) != format::kSttFunc) return;
    symbol.info = format::kStbLocal << 4 | format::kSttFunc;
    ++changed;
  });
  REQUIRE(changed == 1);
  CHECK(Refusal(bytes).find("it is local and has no definition") != std::string::npos);
}

TEST_CASE("A relocation of code asks for something", "[hostile]") {
  for (const auto& [names_tool, text] : {std::pair(true, "which its section cannot have"),
                                         std::pair(false, "a relocation that asks for nothing")}) {
    Cubin bytes = HostileSample(names_tool);
    format::Shdr table = {};
    ChangeSection(bytes, format::kShtRel, [&](format::Shdr& section) { table = section; });
    REQUIRE(table.size > 0);
    // NONE, and UNUSED_CLEAR32 and UNUSED_CLEAR64, which are of debug information.
    for (const std::uint32_t type : {0x00U, 0x48U, 0x49U}) {
      std::memcpy(bytes.data() + table.offset + 8, &type, sizeof(type));
      CHECK(Refusal(bytes).find(text) != std::string::npos);
      CHECK(Refusal(bytes).find(", at 0x") != std::string::npos);
    }
  }
}

TEST_CASE("A list of relocations of code has some, and a section that it is for", "[hostile]") {
  Cubin bytes = HostileSample();
  ChangeSection(bytes, format::kShtRel, [](format::Shdr& section) { section.size = 0; });
  CHECK(Refusal(bytes).find("a list of relocations without any") != std::string::npos);
  for (const std::uint32_t info : {0U, 1U, 0xc07dU, 0xffffffffU}) {
    for (const bool empty : {false, true}) {
      bytes = HostileSample();
      ChangeSection(bytes, format::kShtRel, [&](format::Shdr& section) {
        section.info = info;
        if (empty) section.size = 0;
      });
      CAPTURE(info, empty);
      CHECK_FALSE(Refusal(bytes).empty());
    }
  }
}

TEST_CASE("What has the parameters of a kernel is one", "[hostile]") {
  for (const auto& [names_tool, text] : {std::pair(true, "it has what only a kernel has"),
                                         std::pair(false, "belongs to another function")}) {
    Cubin bytes = HostileSample(names_tool);
    CHECK(Refusal(bytes).empty());
    int changed = 0;
    ChangeSymbols(bytes, [&](format::Sym& symbol) {
      if ((symbol.other & format::kStoEntry) == 0) return;
      symbol.other &= static_cast<std::uint8_t>(~format::kStoEntry);
      ++changed;
    });
    REQUIRE(changed == 1);
    CHECK(Refusal(bytes).find(text) != std::string::npos);
  }
}

// Bytes behind the file become the table that `type` names.
void MoveToEnd(Cubin& bytes, std::uint32_t type, const Cubin& contents) {
  const std::uint64_t at = bytes.size();
  bytes.insert(bytes.end(), contents.begin(), contents.end());
  ChangeSection(bytes, type, [&](format::Shdr& section) {
    section.offset = at;
    section.size = contents.size();
  });
}

// 100,000 undefined symbols that share a name of megabytes: 100 GB if each were read.
TEST_CASE("Symbols cannot share a long name without end", "[hostile]") {
  Cubin bytes = HostileSample();
  format::Shdr strings = {};
  std::uint64_t long_name = 0;
  const auto header = At<format::Ehdr>(bytes, 0);
  format::Shdr table = {};
  ChangeSection(bytes, format::kShtSymtab, [&](format::Shdr& section) { table = section; });
  const std::uint64_t header_of_strings = header.shoff + table.link * sizeof(format::Shdr);
  strings = At<format::Shdr>(bytes, header_of_strings);

  Cubin names(bytes.begin() + static_cast<std::ptrdiff_t>(strings.offset),
              bytes.begin() + static_cast<std::ptrdiff_t>(strings.offset + strings.size));
  long_name = names.size();
  names.resize(names.size() + (1 << 20), 'n');
  names.push_back(0);
  Cubin symbols(bytes.begin() + static_cast<std::ptrdiff_t>(table.offset),
                bytes.begin() + static_cast<std::ptrdiff_t>(table.offset + table.size));
  format::Sym symbol = {};
  symbol.name = static_cast<std::uint32_t>(long_name);
  symbol.info = format::kStbGlobal << 4 | format::kSttFunc;
  const std::size_t old = symbols.size();
  symbols.resize(old + 100'000 * sizeof(symbol));
  for (std::size_t at = old; at < symbols.size(); at += sizeof(symbol)) {
    std::memcpy(symbols.data() + at, &symbol, sizeof(symbol));
  }
  MoveToEnd(bytes, format::kShtSymtab, symbols);
  strings.offset = bytes.size();
  strings.size = names.size();
  std::memcpy(bytes.data() + header_of_strings, &strings, sizeof(strings));
  bytes.insert(bytes.end(), names.begin(), names.end());
  CHECK(Refusal(bytes) == "its symbols share the names of a few");
}

}  // namespace
}  // namespace devlink::testing
