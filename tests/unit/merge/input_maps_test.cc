// SPDX-License-Identifier: Apache-2.0
#include "merge/input_maps.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "format/nv_info.h"
#include "support/catch.h"
#include "unit/merge/merged.h"

namespace devlink::testing {
namespace {

using internal::kNone;

// Merged with their maps.
Merged MergeAll(const std::vector<CubinSpec>& inputs) {
  Merged merged = MergeInputs(LoadCubins(inputs), {.sm = 80, .keep_maps = true});
  REQUIRE(merged.result.ok());
  CHECK(merged.diagnostics.empty());
  return merged;
}

// Where a symbol, or a section, of an input went.
internal::SymbolId SymbolOf(const Merged& merged, std::size_t input, std::string_view name) {
  const internal::ModuleView& view = merged.inputs[input].module->sass();
  std::uint32_t i = 1;
  while (view.SymbolAt(i).name != name) ++i;
  return merged.result->maps[input].symbols[i];
}
internal::SectionPlace PlaceOf(const Merged& merged, std::size_t input, std::string_view name) {
  const internal::ModuleView& view = merged.inputs[input].module->sass();
  std::uint32_t i = 1;
  while (view.SectionAt(i).name != name) ++i;
  return merged.result->maps[input].sections[i];
}

TEST_CASE("A merge tells where each input's sections and symbols went", "[merge]") {
  const Merged merged =
      MergeAll({{.functions = {{.name = "k", .calls = {"f"}, .kernel = true}},
                 .global_bytes = 12,
                 .global_name = "x"},
                {.functions = {{.name = "f"}}, .global_bytes = 8, .global_name = "y"}});
  const internal::Program& program = merged.program();
  REQUIRE(merged.result->maps.size() == 2);

  // The reference and the definition are one symbol.
  const auto definition = SymbolOf(merged, 1, "f");
  CHECK(SymbolOf(merged, 0, "f") == definition);
  CHECK(program.symbols[definition].name == "f");
  CHECK(PlaceOf(merged, 1, ".text.f") ==
        internal::SectionPlace{program.symbols[definition].section, 0});

  // The second input's variables come behind the first one's, aligned to 8.
  const auto first = PlaceOf(merged, 0, ".nv.global.init");
  const auto second = PlaceOf(merged, 1, ".nv.global.init");
  CHECK(first.section == second.section);
  CHECK(first.base == 0);
  CHECK(second.base == 16);
}

TEST_CASE("What is merged by record has the list that the records went to", "[merge]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  a.AddRecord(k, format::kInfoHalfValue, format::kAttrMaxRegCount, 40);
  a.Relocate(a.TextOf(k), 0, 0x38, a.Declare("f"));
  InputBuilder b;
  b.Define(InputBuilder::Function{.name = "f"});
  const Merged merged = MergeInputs({&a, &b}, {.sm = 80, .keep_maps = true});
  const internal::Program& program = merged.program();
  const internal::Function& kernel =
      program.functions[program.symbols[SymbolOf(merged, 0, "k")].function];
  const auto by_record = [](internal::SectionId section) {
    return internal::SectionPlace{.section = section, .by_record = true};
  };
  CHECK(PlaceOf(merged, 0, ".nv.info") == by_record(program.module_info));
  CHECK(PlaceOf(merged, 1, ".nv.info") == by_record(program.module_info));
  CHECK(PlaceOf(merged, 0, ".nv.info.k") == by_record(kernel.info));
  CHECK(PlaceOf(merged, 0, ".rel.text.k") == by_record(program.sections[kernel.text].rel));
  CHECK(PlaceOf(merged, 0, ".text.k") == internal::SectionPlace{.section = kernel.text});
}

TEST_CASE("Maps are kept only where they are asked for", "[merge]") {
  CHECK(MergeInputs(LoadCubins({{.functions = {{.name = "f"}}}})).result->maps.empty());
}

TEST_CASE("Code that another input replaced has no place any more", "[merge]") {
  const Merged merged = MergeAll({{.functions = {{.name = "f", .weak = true, .registers = 40}}},
                                  {.functions = {{.name = "f", .registers = 50}}},
                                  {.functions = {{.name = "f", .weak = true, .registers = 8}}}});
  const internal::Program& program = merged.program();
  CHECK(PlaceOf(merged, 0, ".text.f").section == kNone);
  CHECK(PlaceOf(merged, 1, ".text.f").section == program.functions[0].text);
  CHECK(PlaceOf(merged, 2, ".text.f").section == kNone);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(SymbolOf(merged, i, "f") == program.functions[0].symbol);
  }
  // One record of registers, that of the body that stays.
  std::vector<std::uint32_t> registers;
  for (const internal::AttributeRecord& record : program.info_lists[0]) {
    if (record.id != format::kAttrRegCount) continue;
    registers.push_back(base::BoundedReader(record.payload).ReadOrZero<std::uint32_t>(4));
  }
  CHECK(registers == std::vector<std::uint32_t>{50});
}

}  // namespace
}  // namespace devlink::testing
