// SPDX-License-Identifier: Apache-2.0
#include "damage/losses.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "devlink-diff/cubin_view.h"
#include "support/number_at.h"
#include "support/text.h"

namespace devlink::testing {
namespace {

using diff::CubinView;
using diff::ViewCubin;
using diff::ViewSection;
using diff::ViewSymbol;
using Bytes = std::span<const std::uint8_t>;

// Numbers of the format, written down again: a wrong one in the library's tables must show.
constexpr unsigned kRela = 4;
constexpr unsigned kRel = 9;
constexpr unsigned kYieldOpcode = 0x44;
constexpr unsigned kYieldPredicate = 0x45;
constexpr unsigned kObject = 1;
constexpr unsigned kFunction = 2;
constexpr unsigned kCudaObject = 13;
constexpr unsigned kKernel = 0x10;
constexpr unsigned kSpace = 0xe0;
constexpr unsigned kGlobalSpace = 0x20;

unsigned TypeOf(const ViewSymbol& symbol) { return symbol.info & 15U; }
bool IsDefinedFunction(const ViewSymbol& symbol) {
  return TypeOf(symbol) == kFunction && symbol.section != 0;
}

// The name; of several symbols of one name, which has a number behind it, the same for all.
std::string NameOf(const ViewSymbol& symbol) { return symbol.key.substr(0, symbol.key.find('#')); }

struct FoundRelocation {
  std::string section;  // that it applies to
  std::uint64_t offset = 0;
  unsigned type = 0;
  ViewSymbol symbol;

  [[nodiscard]] std::string Text(bool with_type) const {
    return Cat(section, " + ", offset, with_type ? Cat(" (type ", type, ")") : "", " -> ",
               NameOf(symbol));
  }
};

std::vector<FoundRelocation> RelocationsOf(const CubinView& file) {
  std::vector<FoundRelocation> out;
  for (const ViewSection& section : file.sections) {
    // Its own name tells what it is, too: its type may be what is damaged.
    const bool by_name = section.name.starts_with(".rel.") || section.name.starts_with(".rela.");
    if (section.type != kRela && section.type != kRel && !by_name) continue;
    const bool wide = by_name ? section.name.starts_with(".rela.") : section.type == kRela;
    const std::size_t step = wide ? 24 : 16;
    for (std::size_t at = 0; at + step <= section.data.size(); at += step) {
      const auto index = NumberAt<std::uint32_t>(section.data, at + 12);
      // A place where the code may yield: it refers to nothing.
      const auto type = NumberAt<std::uint32_t>(section.data, at + 8);
      if (index == 0 && (type == kYieldOpcode || type == kYieldPredicate)) continue;
      const ViewSymbol symbol = index < file.symbols.size() ? file.symbols[index] : ViewSymbol();
      // A second name for code: the relocation may come to name the first.
      if (IsDefinedFunction(symbol) && symbol.size == 0) continue;
      out.push_back({section.info < file.sections.size() ? file.sections[section.info].name : "?",
                     NumberAt<std::uint64_t>(section.data, at), type, symbol});
    }
  }
  return out;
}

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

std::vector<std::string> ExportedFunctions(const CubinView& file, bool kernels_only) {
  std::set<std::string> names;
  for (const ViewSymbol& symbol : file.symbols) {
    if (!IsDefinedFunction(symbol) || symbol.info >> 4 == 0) continue;
    if (kernels_only && (symbol.other & kKernel) == 0) continue;
    names.insert(NameOf(symbol));
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
  const CubinView in = ViewCubin(input);
  const CubinView out = ViewCubin(output);
  std::vector<std::string> lost =
      Missing(ExportedFunctions(in, false), ExportedFunctions(out, false), "function ");
  Append(Missing(RelocationTexts(RelocationsOf(in), true),
                 RelocationTexts(RelocationsOf(out), true), "relocation "),
         lost);
  return lost;
}

std::vector<std::string> LossesOfLink(Bytes input, Bytes output) {
  const CubinView in = ViewCubin(input);
  const CubinView out = ViewCubin(output);
  std::vector<std::string> lost =
      Missing(ExportedFunctions(in, true), ExportedFunctions(out, true), "kernel ");
  std::set<std::string> present;
  for (const ViewSection& section : out.sections) present.insert(section.name);
  std::vector<FoundRelocation> wanted;
  for (FoundRelocation& relocation : RelocationsOf(in)) {
    const unsigned space = relocation.symbol.other & kSpace;
    const unsigned type = TypeOf(relocation.symbol);
    const bool loaded = type == kFunction || ((type == kObject || type == kCudaObject) &&
                                              (space == kGlobalSpace || space == 0));
    // References of code to the loader's tables go, as with nvlink.
    constexpr std::array<std::string_view, 8> kTables = {
        "__UFT", "__UFT_END", "__UFT_OFFSET", "__UFT_CANONICAL",
        "__UDT", "__UDT_END", "__UDT_OFFSET", "__UDT_CANONICAL"};
    const std::string name = NameOf(relocation.symbol);
    if (std::find(kTables.begin(), kTables.end(), name) != kTables.end()) continue;
    if (!relocation.section.starts_with(".text.") || !loaded) continue;
    if (present.contains(relocation.section)) wanted.push_back(std::move(relocation));
  }
  Append(Missing(RelocationTexts(wanted, false), RelocationTexts(RelocationsOf(out), false),
                 "relocation "),
         lost);
  return lost;
}

}  // namespace devlink::testing
