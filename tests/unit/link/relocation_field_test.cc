// SPDX-License-Identifier: Apache-2.0
#include "link/relocation_field.h"

#include <array>

#include "format/elf_cuda.h"
#include "support/catch.h"
#include "unit/link/program_builder.h"

namespace devlink::testing {
namespace {

using internal::FieldPatch;
using internal::SectionId;
using internal::SectionKind;

constexpr std::array<std::uint8_t, 8> kCode = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};

// One section of code and one list of relocations to it.
struct Field {
  explicit Field(std::uint32_t list_type) {
    const auto f = builder.AddFunction();
    relocation.section = builder.program.functions[f].text;
    auto& text = builder.program.sections[relocation.section];
    text.size = kCode.size();
    text.pieces.push_back({kCode, 0});
    relocation.list = builder.AddSection(SectionKind::kRelocations, f);
    builder.program.sections[relocation.list].type = list_type;
  }
  std::vector<FieldPatch> Store(const format::RelocationInfo& info, std::uint64_t value,
                                std::uint64_t bank = 0) {
    std::vector<FieldPatch> patches;
    internal::StoreValue(builder.program, relocation, info, value, bank, patches);
    return patches;
  }
  ProgramBuilder builder;
  internal::Relocation relocation;
};

constexpr format::RelocationInfo kWord = {.parts = {{{4, 16, 0, false}}}};
constexpr format::RelocationInfo kByte = {.parts = {{{8, 8, 8, false}}}};
constexpr format::RelocationInfo kWithBank = {.parts = {{{0, 14, 2, false}, {16, 5, 0, true}}}};

TEST_CASE("A value with an addend replaces what the field holds", "[relocate]") {
  Field field(format::kShtRela);
  const auto patches = field.Store(kWord, 0x1234);
  REQUIRE(patches.size() == 1);
  CHECK(patches[0].section == field.relocation.section);
  CHECK(patches[0].field.position == 4);
  CHECK(patches[0].field.width == 16);
  CHECK(patches[0].value == 0x1234);
}

TEST_CASE("A value without one is added to it", "[relocate]") {
  Field field(format::kShtRel);
  CHECK(field.Store(kWord, 0x1000)[0].value == 0x1000 + 0x4321);
  field.relocation.offset = 6;  // the field ends behind the code: zeroes follow
  CHECK(field.Store(kWord, 0)[0].value == 0xfed);
}

TEST_CASE("Single bytes are added before the value is shifted", "[relocate]") {
  Field field(format::kShtRel);
  CHECK(field.Store(kByte, 0x2f0)[0].value == (0x2f0 + 0x32) >> 8);
}

TEST_CASE("A bank goes into a part of its own", "[relocate]") {
  Field field(format::kShtRela);
  const auto patches = field.Store(kWithBank, 0x40, 3);
  REQUIRE(patches.size() == 2);
  CHECK(patches[0].value == 0x10);
  CHECK(patches[1].value == 3);
}

TEST_CASE("Symbols have banks by where they lie", "[relocate]") {
  ProgramBuilder builder;
  const auto kernel = builder.AddFunction(/*kernel=*/true);
  const SectionId constants = builder.AddSection(SectionKind::kConstantBank, internal::kNone);
  builder.program.sections[constants].bank = 3;
  internal::Symbol symbol;
  const auto bank_in = [&](SectionId section) {
    symbol.section = section;
    return internal::BankOf(builder.program, symbol);
  };
  CHECK(bank_in(constants) == 3);
  CHECK(bank_in(builder.program.functions[kernel].shared) == 6);
  CHECK(bank_in(internal::kNone) == 0x1c);
}

TEST_CASE("The size of constants without any is all bits set", "[relocate]") {
  ProgramBuilder builder;
  CHECK(internal::ConstantSize(builder.program) == ~std::uint64_t{0});
  builder.program.constant_bank3 = builder.AddSection(SectionKind::kConstantBank, internal::kNone);
  builder.program.sections[builder.program.constant_bank3].size = 0x30;
  CHECK(internal::ConstantSize(builder.program) == 0x30);
}

TEST_CASE("Global memory is where a symbol lies, or what it does not say otherwise", "[relocate]") {
  ProgramBuilder builder;
  internal::Symbol symbol;
  CHECK(internal::IsGlobalMemory(builder.program, symbol));
  symbol.space = format::kStoShared;
  CHECK(!internal::IsGlobalMemory(builder.program, symbol));
  symbol.section = builder.AddSection(SectionKind::kGlobal, internal::kNone);
  CHECK(internal::IsGlobalMemory(builder.program, symbol));
  symbol.section = builder.AddSection(SectionKind::kConstantBank, internal::kNone);
  CHECK(!internal::IsGlobalMemory(builder.program, symbol));
}

}  // namespace
}  // namespace devlink::testing
