// SPDX-License-Identifier: Apache-2.0
#include "merge/program_builder.h"

#include <utility>

#include "support/catch.h"

namespace devlink::testing {
namespace {

using internal::kNone;

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
