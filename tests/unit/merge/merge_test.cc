// SPDX-License-Identifier: Apache-2.0
#include "merge/merge.h"

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "merge/file_merge.h"
#include "merge/program_builder.h"
#include "model/module.h"
#include "support/catch.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

using internal::kNone;
using internal::LinkInput;
using internal::Merged;
using internal::MergeOptions;

LinkInput Input(const std::string& name, const CubinSpec& spec) {
  return {.name = name, .module = *internal::Module::Load(BuildCubin(spec))};
}

Merged MergeAll(const std::vector<LinkInput>& inputs, bool keep_maps = true) {
  MergeOptions options;
  options.sm = 80;
  options.keep_maps = keep_maps;
  std::vector<Diagnostic> diagnostics;
  auto merged = internal::Merge(inputs, options, diagnostics);
  REQUIRE(merged.ok());
  CHECK(diagnostics.empty());
  return *std::move(merged);
}

// The symbol, or the section, of an input that has a name.
std::uint32_t SymbolNamed(const LinkInput& input, std::string_view name) {
  const internal::ModuleView& view = input.module->sass();
  for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
    if (view.SymbolAt(i).name == name) return i;
  }
  return 0;
}
std::uint32_t SectionNamed(const LinkInput& input, std::string_view name) {
  const internal::ModuleView& view = input.module->sass();
  for (std::uint32_t i = 1; i < view.section_count(); ++i) {
    if (view.SectionAt(i).name == name) return i;
  }
  return 0;
}

TEST_CASE("A merge tells where each input's sections and symbols went", "[merge]") {
  const std::vector<LinkInput> inputs = {
      Input("a", {.functions = {{.name = "k", .calls = {"f"}, .entry = true}},
                  .global_bytes = 12,
                  .global_name = "x"}),
      Input("b", {.functions = {{.name = "f"}}, .global_bytes = 8, .global_name = "y"})};
  const Merged merged = MergeAll(inputs);
  const internal::Program& program = merged.program;
  REQUIRE(merged.maps.size() == 2);

  // The reference and the definition are one symbol.
  const auto reference = merged.maps[0].symbols[SymbolNamed(inputs[0], "f")];
  const auto definition = merged.maps[1].symbols[SymbolNamed(inputs[1], "f")];
  CHECK(reference == definition);
  CHECK(program.symbols[definition].name == "f");
  const auto text = merged.maps[1].sections[SectionNamed(inputs[1], ".text.f")];
  CHECK(text == internal::SectionPlace{program.symbols[definition].section, 0});

  // The second input's variables come behind the first one's, aligned to 8.
  const auto first = merged.maps[0].sections[SectionNamed(inputs[0], ".nv.global.init")];
  const auto second = merged.maps[1].sections[SectionNamed(inputs[1], ".nv.global.init")];
  CHECK(first.section == second.section);
  CHECK(first.base == 0);
  CHECK(second.base == 16);
  CHECK(merged.maps[0].sections[SectionNamed(inputs[0], ".nv.info")].section == kNone);
}

TEST_CASE("Maps are kept only where they are asked for", "[merge]") {
  CHECK(MergeAll({Input("a", {.functions = {{.name = "f"}}})}, false).maps.empty());
}

TEST_CASE("Code that another input replaced has no place any more", "[merge]") {
  const std::vector<LinkInput> inputs = {
      Input("weak", {.functions = {{.name = "f", .weak = true, .registers = 40}}}),
      Input("strong", {.functions = {{.name = "f", .registers = 50}}}),
      Input("late", {.functions = {{.name = "f", .weak = true, .registers = 8}}})};
  const Merged merged = MergeAll(inputs);
  const auto place = [&](std::size_t i) {
    return merged.maps[i].sections[SectionNamed(inputs[i], ".text.f")].section;
  };
  CHECK(place(0) == kNone);
  CHECK(place(1) == merged.program.functions[0].text);
  CHECK(place(2) == kNone);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(merged.maps[i].symbols[SymbolNamed(inputs[i], "f")] ==
          merged.program.functions[0].symbol);
  }
  // One record of registers, that of the body that stays.
  const auto& records = merged.program.info_lists[0];
  std::vector<std::uint32_t> registers;
  for (const internal::InfoEntry& record : records) {
    if (record.id != format::kAttrRegCount) continue;
    registers.push_back(base::BoundedReader(record.payload).ReadOrZero<std::uint32_t>(4));
  }
  CHECK(registers == std::vector<std::uint32_t>{50});
}

TEST_CASE("Findings name both inputs, and the merge stops behind the one at fault", "[merge]") {
  const std::vector<LinkInput> inputs = {Input("a", {.functions = {{.name = "f"}}}),
                                         Input("b", {.functions = {{.name = "f"}}}),
                                         Input("c", {.functions = {{.name = "f"}}})};
  MergeOptions options;
  options.sm = 80;
  std::vector<Diagnostic> diagnostics;
  const auto merged = internal::Merge(inputs, options, diagnostics);
  CHECK(merged.status().code() == absl::StatusCode::kAlreadyExists);
  REQUIRE(diagnostics.size() == 2);
  CHECK(diagnostics[0].text == "Multiple definition of 'f' in 'b', first defined in 'a'");
  CHECK(diagnostics[1].code == DiagnosticCode::kMergeFailed);
  CHECK(diagnostics[1].input == "b");
}

TEST_CASE("The file has every tool's record and one CUDA note, with the lowest architecture",
          "[merge]") {
  internal::FileMerge file({.sm = 80, .architecture_specific = false, .profile = {}});
  const LinkInput newer = Input("a", {.sm = 80, .functions = {{.name = "f"}}});
  const LinkInput older = Input("b", {.sm = 75, .functions = {{.name = "g"}}});
  file.Add(newer.module->sass());
  file.Add(older.module->sass());
  const internal::FileParts parts = std::move(file).Finish();
  CHECK(parts.tool_records.size() == 2);
  REQUIRE(parts.cuda_note.size() >= 28);
  std::uint16_t lowest = 0;
  std::memcpy(&lowest, parts.cuda_note.data() + 26, sizeof(lowest));
  CHECK(lowest == 75);
  CHECK(parts.compat.empty());
}

TEST_CASE("Without inputs the file describes its target", "[merge]") {
  internal::FileMerge file({.sm = 90, .architecture_specific = true, .profile = {}});
  const internal::FileParts parts = std::move(file).Finish();
  CHECK(parts.compat == std::vector<std::uint8_t>{2, 9, 1, 0});
  CHECK((parts.cuda_note_flags & format::kShfInfoLink) != 0);
}

TEST_CASE("A program begins with what every output has and names are entered twice", "[merge]") {
  internal::ProgramBuilder builder(80, format::ViewKind::kSass, true);
  CHECK(builder.program.sections.size() == 3);  // two notes and `.nv.info`
  const auto section = builder.AddSection(".text.f", internal::SectionKind::kText, 1, 6, 128);
  CHECK(builder.program.section_names.back().section == section);
  CHECK(builder.program.symbol_names.back().text == ".text.f");
  const internal::InputSymbol weak{.name = "f", .binding = format::kStbWeak};
  const auto symbol = builder.AddSymbol(weak, format::kSttFunc);
  CHECK(builder.FindGlobal(weak) == symbol);
  CHECK(builder.program.symbols[symbol].global_part);
  CHECK(builder.FindGlobal({.name = "f", .binding = format::kStbLocal}) == kNone);
  const auto list = builder.RelocationSection(".rel.text.f", section, format::kShtRel);
  CHECK(builder.RelocationSection(".rel.text.f", section, format::kShtRel) == list);
  CHECK(builder.AddPrototype("p") == builder.AddPrototype("p"));
  // Tables, one more, and the five sections.
  CHECK(std::move(builder).Take().residue.internal_sections == 6 + 5);
}

}  // namespace
}  // namespace devlink::testing
