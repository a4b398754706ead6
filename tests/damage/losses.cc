// SPDX-License-Identifier: Apache-2.0
#include "damage/losses.h"

#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "support/text.h"

namespace devlink::testing {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Numbers of the format, written down again: a wrong one in the library's tables must show.
constexpr unsigned kRela = 4;
constexpr unsigned kRel = 9;
constexpr unsigned kSymtab = 2;
constexpr unsigned kFunction = 2;
constexpr unsigned kSectionSymbol = 3;
constexpr unsigned kEntry = 0x10;
constexpr unsigned kSpace = 0xe0;
constexpr unsigned kGlobalSpace = 0x20;

template <typename T>
T At(Bytes bytes, std::uint64_t offset) {
  T value = {};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof(T)) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}

std::string TextAt(Bytes bytes, std::uint64_t offset) {
  std::string out;
  while (offset < bytes.size() && bytes[offset] != 0) out += static_cast<char>(bytes[offset++]);
  return out;
}

struct FoundSection {
  std::string name;
  unsigned type = 0;
  unsigned link = 0;
  unsigned info = 0;
  std::uint64_t flags = 0;
  Bytes bytes;
};

struct FoundSymbol {
  std::string name;
  unsigned type = 0;
  unsigned binding = 0;
  unsigned other = 0;
  unsigned section = 0;
  std::uint64_t size = 0;

  [[nodiscard]] bool IsExportedFunction() const {
    return type == kFunction && binding != 0 && section != 0;
  }
  [[nodiscard]] bool IsAlias() const { return type == kFunction && section != 0 && size == 0; }
};

struct FoundRelocation {
  std::string section;  // that it applies to
  std::uint64_t offset = 0;
  unsigned type = 0;
  FoundSymbol symbol;

  [[nodiscard]] std::string Text(bool with_type) const {
    return Cat(section, " + ", offset, with_type ? Cat(" (type ", type, ")") : "", " -> ",
               symbol.name);
  }
};

class File {
 public:
  explicit File(Bytes file) {
    const auto table = At<std::uint64_t>(file, 40);
    const unsigned count = At<std::uint16_t>(file, 60);
    const auto header = [&](unsigned index) { return file.subspan(table + index * 64ULL, 64); };
    const auto bytes_of = [&](Bytes raw) {
      const auto offset = At<std::uint64_t>(raw, 24);
      const auto size = At<std::uint64_t>(raw, 32);
      return offset <= file.size() && size <= file.size() - offset ? file.subspan(offset, size)
                                                                   : Bytes();
    };
    const Bytes names = bytes_of(header(At<std::uint16_t>(file, 62)));
    for (unsigned i = 0; i < count; ++i) {
      const Bytes raw = header(i);
      sections.push_back({TextAt(names, At<std::uint32_t>(raw, 0)), At<std::uint32_t>(raw, 4),
                          At<std::uint32_t>(raw, 40), At<std::uint32_t>(raw, 44),
                          At<std::uint64_t>(raw, 8), bytes_of(raw)});
    }
    for (const FoundSection& section : sections) {
      if (section.type != kSymtab || &section == &sections.front()) continue;
      ReadSymbols(section.bytes, sections.at(section.link).bytes);
      break;
    }
  }

  [[nodiscard]] std::vector<FoundRelocation> Relocations() const {
    std::vector<FoundRelocation> out;
    for (const FoundSection& section : sections) {
      // Its own name tells what it is, too: its type may be what is damaged.
      const bool by_name = section.name.starts_with(".rel.") || section.name.starts_with(".rela.");
      if (section.type != kRela && section.type != kRel && !by_name) continue;
      const bool wide = by_name ? section.name.starts_with(".rela.") : section.type == kRela;
      const std::uint64_t step = wide ? 24 : 16;
      for (std::uint64_t at = 0; at + step <= section.bytes.size(); at += step) {
        FoundRelocation& found = out.emplace_back();
        found.section = section.info < sections.size() ? sections[section.info].name : "?";
        found.offset = At<std::uint64_t>(section.bytes, at);
        found.type = At<std::uint32_t>(section.bytes, at + 8);
        const auto index = At<std::uint32_t>(section.bytes, at + 12);
        if (index < symbols.size()) found.symbol = symbols[index];
        // A second name for code: the relocation may come to name the first.
        if (found.symbol.IsAlias()) out.pop_back();
      }
    }
    return out;
  }

  std::vector<FoundSection> sections;
  std::vector<FoundSymbol> symbols;

 private:
  void ReadSymbols(Bytes table, Bytes names) {
    for (std::uint64_t at = 0; at + 24 <= table.size(); at += 24) {
      const auto info = At<std::uint8_t>(table, at + 4);
      FoundSymbol& symbol = symbols.emplace_back();
      symbol.name = TextAt(names, At<std::uint32_t>(table, at));
      symbol.type = info & 15U;
      symbol.binding = static_cast<unsigned>(info) >> 4;
      symbol.other = At<std::uint8_t>(table, at + 5);
      symbol.section = At<std::uint16_t>(table, at + 6);
      symbol.size = At<std::uint64_t>(table, at + 16);
      if (symbol.type == kSectionSymbol && symbol.section < sections.size()) {
        symbol.name = sections[symbol.section].name;
      }
    }
  }
};

// The numbers of what is in `wanted` more often than in `present`.
std::vector<std::string> Missing(const std::vector<std::string>& wanted,
                                 const std::vector<std::string>& present, std::string_view what) {
  std::map<std::string, int> balance;
  for (const std::string& text : present) ++balance[text];
  std::vector<std::string> out;
  for (const std::string& text : wanted) {
    if (--balance[text] < 0) out.push_back(Cat(what, text));
  }
  return out;
}

std::vector<std::string> ExportedFunctions(const File& file, bool kernels_only) {
  std::set<std::string> names;
  for (const FoundSymbol& symbol : file.symbols) {
    if (!symbol.IsExportedFunction()) continue;
    if (kernels_only && (symbol.other & kEntry) == 0) continue;
    names.insert(symbol.name);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> RelocationTexts(const std::vector<FoundRelocation>& relocations,
                                         bool with_type) {
  std::vector<std::string> out;
  for (const FoundRelocation& relocation : relocations) out.push_back(relocation.Text(with_type));
  return out;
}

void Append(std::vector<std::string>&& more, std::vector<std::string>& out) {
  for (std::string& text : more) out.push_back(std::move(text));
}

}  // namespace

std::vector<std::string> LossesOfPartialLink(Bytes input, Bytes output) {
  const File in(input);
  const File out(output);
  std::vector<std::string> lost =
      Missing(ExportedFunctions(in, false), ExportedFunctions(out, false), "function ");
  Append(Missing(RelocationTexts(in.Relocations(), true), RelocationTexts(out.Relocations(), true),
                 "relocation "),
         lost);
  return lost;
}

std::vector<std::string> LossesOfLink(Bytes input, Bytes output) {
  const File in(input);
  const File out(output);
  std::vector<std::string> lost =
      Missing(ExportedFunctions(in, true), ExportedFunctions(out, true), "kernel ");
  std::set<std::string> present;
  for (const FoundSection& section : out.sections) present.insert(section.name);
  std::vector<FoundRelocation> wanted;
  for (FoundRelocation& relocation : in.Relocations()) {
    const unsigned space = relocation.symbol.other & kSpace;
    const bool loaded = relocation.symbol.type == kFunction ||
                        ((relocation.symbol.type == 1 || relocation.symbol.type == 13) &&
                         (space == kGlobalSpace || space == 0));
    // The linker fills this one in.
    if (relocation.symbol.name == "__UFT_OFFSET") continue;
    if (!relocation.section.starts_with(".text.") || !loaded) continue;
    if (present.contains(relocation.section)) wanted.push_back(std::move(relocation));
  }
  Append(Missing(RelocationTexts(wanted, false), RelocationTexts(out.Relocations(), false),
                 "relocation "),
         lost);
  return lost;
}

}  // namespace devlink::testing
