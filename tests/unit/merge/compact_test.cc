// SPDX-License-Identifier: Apache-2.0
#include "merge/compact.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "link/undefined.h"
#include "merge/replaced_bodies.h"
#include "support/catch.h"
#include "unit/link/program_builder.h"

namespace devlink::testing {
namespace {

using internal::kNone;
using internal::ReplacedBodies;
using internal::SectionId;
using internal::SectionKind;
using internal::SymbolId;

// Constants of a function, their section symbol and one variable in them.
struct Bank {
  SectionId section = kNone;
  SymbolId section_symbol = kNone;
  SymbolId variable = kNone;
};

Bank AddBank(ProgramBuilder& builder, internal::FunctionId function, std::string_view name) {
  internal::Program& program = builder.program;
  Bank bank;
  bank.section = builder.AddSection(SectionKind::kFunctionConstants, function);
  program.sections[bank.section].name = name;
  constexpr std::string_view kBeforeNumber = ".nv.constant";
  program.sections[bank.section].bank = (name.at(kBeforeNumber.size()) - '0') & 7;
  program.functions[function].constants.push_back(bank.section);
  const auto add_symbol = [&](std::uint8_t type, std::string_view text) {
    internal::Symbol symbol;
    symbol.name = text;
    symbol.type = type;
    symbol.section = bank.section;
    program.symbols.push_back(symbol);
    const auto id = static_cast<SymbolId>(program.symbols.size() - 1);
    program.symbol_names.push_back({.text = text, .symbol = id});
    return id;
  };
  program.section_names.push_back({.text = name, .section = bank.section});
  bank.section_symbol = add_symbol(format::kSttSection, name);
  program.sections[bank.section].symbol = bank.section_symbol;
  bank.variable = add_symbol(format::kSttObject, "variable");
  return bank;
}

std::vector<std::string_view> Texts(const std::vector<internal::NameEntry>& names) {
  std::vector<std::string_view> out;
  for (const internal::NameEntry& name : names) out.push_back(name.text);
  return out;
}

TEST_CASE("A merge in which no body was replaced is left alone", "[compact]") {
  internal::InputMaps maps;
  ProgramBuilder builder;
  const auto function = builder.AddFunction();
  const Bank bank = AddBank(builder, function, ".nv.constant4.f0");
  builder.AddUse(function, bank.variable);
  internal::Compact(ReplacedBodies(), false, false, builder.program, maps);
  CHECK(builder.program.relocations.size() == 1);
  CHECK(builder.program.symbols.size() == 3);
}

TEST_CASE("Relocations and records of a replaced body go, those of the new one stay", "[compact]") {
  internal::InputMaps maps;
  ProgramBuilder builder;
  const auto replaced_function = builder.AddFunction();
  const auto other = builder.AddFunction();
  const auto callee = builder.AddFunction();
  const SymbolId target = builder.program.functions[callee].symbol;
  builder.AddUse(replaced_function, target);
  builder.AddUse(other, target);
  builder.SetResources(replaced_function, 40, 0);
  builder.SetResources(other, 50, 0);
  auto& records = builder.program.info_lists.front();
  for (std::uint32_t i = 0; i < records.size(); ++i) records[i].arrival = i;
  ReplacedBodies replaced;
  replaced.ReplaceBody(replaced_function, 2, static_cast<std::uint32_t>(records.size()));
  builder.AddUse(replaced_function, target);
  builder.SetResources(replaced_function, 30, 0);
  for (std::uint32_t i = 4; i < records.size(); ++i) records[i].arrival = i;

  internal::Compact(replaced, false, false, builder.program, maps);
  REQUIRE(builder.program.relocations.size() == 2);
  CHECK(builder.program.relocations[0].section == builder.program.functions[other].text);
  CHECK(builder.program.relocations[1].section ==
        builder.program.functions[replaced_function].text);
  REQUIRE(records.size() == 4);
  CHECK(records[0].symbol == builder.program.functions[other].symbol);
  CHECK(records[2].symbol == builder.program.functions[replaced_function].symbol);
}

TEST_CASE("Constants that no body has any more go, and nvlink's count of them stays", "[compact]") {
  internal::InputMaps maps;
  ProgramBuilder builder;
  const auto function = builder.AddFunction();
  const Bank bank = AddBank(builder, function, ".nv.constant4.f0");
  const auto last = builder.AddFunction();
  const SectionId last_text = builder.program.functions[last].text;
  builder.AddUse(last, builder.program.functions[last].symbol);
  ReplacedBodies replaced;
  replaced.ReplaceBody(function, 0, 0);
  replaced.Empty(bank.section);

  const bool relocatable = GENERATE(false, true);
  internal::Compact(replaced, relocatable, false, builder.program, maps);
  internal::Program& program = builder.program;
  CHECK(program.symbols.size() == 2);
  CHECK(program.functions[function].constants.empty());
  CHECK(program.functions[last].text == last_text - 1);
  CHECK(program.relocations[0].section == last_text - 1);
  CHECK(program.symbols[program.relocations[0].symbol].name == "f1");
  CHECK(program.residue.skipped_numbers ==
        std::vector<std::pair<SectionId, std::uint32_t>>{{bank.section, 1}});
  // nvlink -r writes names of sections that it leaves out; no link writes those of variables.
  CHECK(Texts(program.section_names) == (relocatable
                                             ? std::vector<std::string_view>{".nv.constant4.f0"}
                                             : std::vector<std::string_view>{}));
  CHECK(program.symbol_names.empty());
}

TEST_CASE("The maps of inputs follow what is numbered anew", "[compact]") {
  ProgramBuilder builder;
  const auto function = builder.AddFunction();
  const Bank bank = AddBank(builder, function, ".nv.constant4.f0");
  const auto last = builder.AddFunction();
  const SectionId last_text = builder.program.functions[last].text;
  const SymbolId last_symbol = builder.program.functions[last].symbol;
  const SectionId text = builder.program.functions[function].text;
  internal::InputMaps maps(2);
  maps[0] = {.sections = {{}, {text, 0}, {bank.section, 16}},
             .symbols = {builder.program.functions[function].symbol, bank.variable}};
  maps[1] = {.sections = {{}, {text, 0}, {last_text, 0}}, .symbols = {last_symbol}};
  ReplacedBodies replaced;
  replaced.ReplaceBody(function, 0, 0);
  replaced.Empty(bank.section);
  builder.program.symbols[builder.program.functions[function].symbol].input = 1;

  internal::ForgetReplaced(replaced, builder.program, maps);
  internal::Compact(replaced, false, false, builder.program, maps);
  using Places = std::vector<internal::SectionPlace>;
  CHECK(maps[0].sections == Places{{}, {}, {}});
  CHECK(maps[0].symbols[1] == kNone);
  CHECK(maps[1].sections == Places{{}, {text, 0}, {last_text - 1, 0}});
  CHECK(builder.program.symbols[maps[1].symbols[0]].name == "f1");
}

TEST_CASE("Constants that were filled again lose the variables of the old body", "[compact]") {
  internal::InputMaps maps;
  ProgramBuilder builder;
  const auto function = builder.AddFunction();
  const Bank bank = AddBank(builder, function, ".nv.constant4.f0");
  ReplacedBodies replaced;
  replaced.Define(bank.variable, bank.section);
  replaced.ReplaceBody(function, 0, 0);
  replaced.Empty(bank.section);
  replaced.Fill(bank.section);
  internal::Symbol symbol;
  symbol.name = "new";
  symbol.section = bank.section;
  builder.program.symbols.push_back(symbol);
  replaced.Define(static_cast<SymbolId>(builder.program.symbols.size() - 1), bank.section);

  internal::Compact(replaced, false, false, builder.program, maps);
  REQUIRE(builder.program.symbols.size() == 3);
  CHECK(builder.program.symbols[2].name == "new");
  CHECK(builder.program.sections[bank.section].only_if_filled == false);
  CHECK(Texts(builder.program.symbol_names) == std::vector<std::string_view>{".nv.constant4.f0"});
}

TEST_CASE("An emptied bank stays where the layout may fill it", "[compact]") {
  internal::InputMaps maps;
  ProgramBuilder builder;
  const auto kernel = builder.AddFunction(/*kernel=*/true);
  const Bank bank = AddBank(builder, kernel, ".nv.constant2.f0");
  builder.program.sections[bank.section].bank = 2;
  ReplacedBodies replaced;
  replaced.ReplaceBody(kernel, 0, 0);
  replaced.Empty(bank.section);
  internal::Compact(replaced, false, false, builder.program, maps);
  CHECK(builder.program.sections[bank.section].only_if_filled);
  CHECK(builder.program.functions[kernel].constants.size() == 1);
}

TEST_CASE("A variable that something still refers to stays without an entry", "[compact]") {
  internal::InputMaps maps;
  ProgramBuilder builder;
  const auto function = builder.AddFunction();
  const Bank bank = AddBank(builder, function, ".nv.constant4.f0");
  const auto other = builder.AddFunction();
  builder.AddUse(other, bank.variable);
  ReplacedBodies replaced;
  replaced.ReplaceBody(function, 0, 0);
  replaced.Empty(bank.section);
  internal::Compact(replaced, false, false, builder.program, maps);
  CHECK(builder.program.sections[bank.section].only_if_filled);
  CHECK(builder.program.symbols[bank.variable].unlisted);
  CHECK(Texts(builder.program.symbol_names) == std::vector<std::string_view>{".nv.constant4.f0"});
}

TEST_CASE("No note names a replaced body as the user of what is undefined", "[compact]") {
  internal::InputMaps maps;
  const bool replace = GENERATE(false, true);
  ProgramBuilder builder;
  const auto function = builder.AddFunction();
  internal::Symbol missing;
  missing.name = "missing";
  missing.type = format::kSttObject;
  missing.binding = format::kStbGlobal;
  builder.program.symbols.push_back(missing);
  builder.AddUse(function, static_cast<SymbolId>(builder.program.symbols.size() - 1));
  ReplacedBodies replaced;
  if (replace) replaced.ReplaceBody(function, 1, 0);
  internal::Compact(replaced, false, false, builder.program, maps);

  const internal::CallGraph graph(builder.program);
  const internal::Liveness liveness =
      internal::FindLiveFunctions(builder.program, graph, /*keep_all=*/true);
  const std::vector<internal::LinkInput> inputs = {{.name = "a.cubin", .module = nullptr}};
  const auto found =
      internal::FindUndefined({inputs, builder.program, graph, liveness, {}, {}, {}, {}, {}});
  REQUIRE(found.size() == 1);
  const bool names_user =
      std::any_of(found[0].notes.begin(), found[0].notes.end(),
                  [](const std::string& n) { return n.starts_with("used by"); });
  CHECK(names_user == !replace);
}

}  // namespace
}  // namespace devlink::testing
