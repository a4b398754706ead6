// SPDX-License-Identifier: Apache-2.0
//
// What every cubin of ptxas and nvlink -r states in one form, stated otherwise: of each section,
// record, relocation and symbol of some files of ptxas.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "model/module.h"
#include "support/catch.h"
#include "unit/model/damage_sample.h"

namespace devlink::testing {
namespace {

TEST_CASE("A section is aligned and counted as its kind is", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    for (const ViewKind kind : sample.kinds()) {
      ForEachSection(sample, kind, [&](const InputSection& section, std::uint32_t i) {
        CAPTURE(section.name);
        const std::size_t header = sample.HeaderOf(i);
        for (const std::uint32_t size : {1U, 4U, 12U, 32U, 200U}) {
          const std::size_t at = header + offsetof(format::Shdr, entsize);
          const bool is_string_table = section.type == format::kShtStrtab;
          if (is_string_table) continue;  // nothing counts them
          CHECK_FALSE(Refusal(sample.WithWord(at, size)).empty());
        }
        if (HoldsVariables(section.role) && !section.IsParameterBank()) return;
        if (section.type == format::kShtStrtab) return;
        for (const std::uint32_t align : {1U, 2U, 4U, 8U, 32U, 64U, 256U}) {
          if (align == section.align) continue;
          CAPTURE(align);
          const std::size_t at = header + offsetof(format::Shdr, addralign);
          CHECK_FALSE(Refusal(sample.WithWord(at, align)).empty());
          ++changes;
        }
      });
    }
  }
  CHECK(changes > 500);
}

// What is cut off leaves a hole behind it.
TEST_CASE("No list of relocations or of attributes is shorter than it was", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    for (const ViewKind kind : sample.kinds()) {
      ForEachSection(sample, kind, [&](const InputSection& section, std::uint32_t i) {
        const bool is_list = section.role == SectionRole::kRelocations &&
                             sample.view(kind).RoleAt(section.info) != SectionRole::kDebug;
        if (!is_list && !IsInfo(section)) return;
        const std::size_t size_at = sample.HeaderOf(i) + offsetof(format::Shdr, size);
        const std::uint32_t step = is_list ? section.entry_size : 4;
        for (std::uint32_t less = step; less <= section.size; less += step) {
          CAPTURE(section.name, less);
          const auto size = static_cast<std::uint32_t>(section.size) - less;
          CHECK_FALSE(Refusal(sample.WithWord(size_at, size)).empty());
          ++changes;
        }
      });
    }
  }
  CHECK(changes > 500);
}

TEST_CASE("Registers, frame and stack of each function are stated once", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachAttribute(sample, [&](const auto& section, const auto& record, std::size_t at) {
      const bool of_function = record.id == format::kAttrRegCount ||
                               record.id == format::kAttrFrameSize ||
                               record.id == format::kAttrMaxStackSize;
      if (!of_function) return;
      CAPTURE(section.name, record.id);
      for (const std::uint8_t other : {format::kAttrRegCount, format::kAttrFrameSize,
                                       format::kAttrMaxStackSize, format::kAttrMinStackSize}) {
        if (other == record.id) continue;
        const auto change = static_cast<std::uint8_t>(other ^ record.id);
        CHECK_FALSE(Refusal(sample.With(at + 1, change)).empty());
      }
      const std::uint32_t symbols = sample.view(ViewKind::kSass).symbol_count();
      for (std::uint32_t symbol = 0; symbol < symbols; ++symbol) {
        if (symbol == sample.WordAt(at + 4)) continue;
        CHECK_FALSE(Refusal(sample.WithWord(at + 4, symbol)).empty());
        ++changes;
      }
      for (const std::uint32_t value : {257U, 0x01000002U, ~0U}) {
        CHECK_FALSE(Refusal(sample.WithWord(at + 8, value)).empty());
      }
    });
  }
  CHECK(changes > 500);
}

TEST_CASE("An attribute has the format of its kind", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachAttribute(sample, [&](const auto& section, const auto& record, std::size_t at) {
      CAPTURE(section.name, record.id);
      CHECK_FALSE(Refusal(sample.WithWord(at, sample.WordAt(at) & ~0xff00U)).empty());  // no id
      for (std::uint8_t other = 0; other < 6; ++other) {
        if (other == record.format) continue;
        CAPTURE(other);
        const auto change = static_cast<std::uint8_t>(other ^ record.format);
        CHECK_FALSE(Refusal(sample.With(at, change)).empty());
        ++changes;
      }
    });
  }
  CHECK(changes > 1000);
}

TEST_CASE("Parameters are numbered and have places of their own", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachAttribute(sample, [&](const auto& section, const auto& record, std::size_t at) {
      if (record.id != format::kAttrKparamInfo) return;
      CAPTURE(section.name);
      const std::uint32_t place = sample.WordAt(at + 8);
      CHECK_FALSE(Refusal(sample.WithWord(at + 4, 1)).empty());
      CHECK_FALSE(Refusal(sample.WithWord(at + 8, place + 1)).empty());
      CHECK_FALSE(Refusal(sample.WithWord(at + 8, place | 0x8000)).empty());
      CHECK_FALSE(Refusal(sample.With(at + 12 + 3, 0x80)).empty());  // its size
      ++changes;
    });
  }
  CHECK(changes > 10);
}

TEST_CASE("A branch leads from its code into its code", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachAttribute(sample, [&](const auto& section, const auto& record, std::size_t at) {
      if (record.id != format::kAttrIndirectBranchTargets) return;
      CAPTURE(section.name);
      CHECK_FALSE(Refusal(sample.WithWord(at + 8, 1)).empty());
      for (std::size_t word = 0; word < record.payload.size(); word += 4) {
        CAPTURE(word);
        CHECK_FALSE(Refusal(sample.With(at + 4 + word, 4)).empty());
        CHECK_FALSE(Refusal(sample.With(at + 4 + word + 3, 0x40)).empty());
        ++changes;
      }
    });
  }
  CHECK(changes > 10);
}

TEST_CASE("A relocation is of a field that its section can have", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachRelocation(sample, [&](const ModuleView& view, const InputSection& target,
                                  std::size_t at, bool is_first) {
      CAPTURE(target.name);
      const std::size_t offset = at + offsetof(format::Rela, offset);
      if (target.role == SectionRole::kText) {
        for (const std::uint8_t bit : {1, 2, 8}) {
          CHECK_FALSE(Refusal(sample.With(offset, bit)).empty());
        }
      }
      const format::FieldPlace place =
          target.role == SectionRole::kText
              ? format::FieldPlace::kCode
              : (target.role == SectionRole::kDebug ? format::FieldPlace::kDebug
                                                    : format::FieldPlace::kData);
      if (!is_first) return;
      const bool mercury = view.kind() == ViewKind::kMercury;
      for (std::uint32_t type = mercury ? format::kMercuryRelocations : 0;
           format::FindRelocation(type) != nullptr; ++type) {
        if (format::CanBeIn(type, place)) continue;
        CAPTURE(type);
        CHECK_FALSE(Refusal(sample.WithWord(at + offsetof(format::Rela, type), type)).empty());
        ++changes;
      }
    });
  }
  CHECK(changes > 1000);
}

TEST_CASE("Variables have places of their own", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    const ModuleView& view = sample.view(ViewKind::kSass);
    std::vector<internal::InputSymbol> variables;
    ForEachSymbol(sample, view, [&](const internal::InputSymbol& symbol, std::size_t) {
      const SectionRole role = view.RoleAt(symbol.section);
      if (symbol.size != 0 && (role == SectionRole::kGlobal || role == SectionRole::kGlobalInit ||
                               role == SectionRole::kConstantBank)) {
        variables.push_back(symbol);
      }
    });
    ForEachSymbol(sample, view, [&](const internal::InputSymbol& symbol, std::size_t at) {
      for (const internal::InputSymbol& other : variables) {
        if (other.section != symbol.section || other.value == symbol.value || symbol.size == 0) {
          continue;
        }
        CAPTURE(symbol.name, other.name);
        const auto value = static_cast<std::uint32_t>(other.value);
        CHECK_FALSE(Refusal(sample.WithWord(at + offsetof(format::Sym, value), value)).empty());
        ++changes;
      }
    });
  }
  CHECK(changes > 10);
}

TEST_CASE("A function without code has no size", "[model]") {
  int changes = 0;
  ForEachSymbolOfAll([&](const Sample& sample, const auto& symbol, std::size_t at) {
    if (symbol.type != format::kSttFunc || symbol.section != format::kShnUndef) return;
    CAPTURE(symbol.name);
    CHECK_FALSE(Refusal(sample.WithWord(at + offsetof(format::Sym, size), 128)).empty());
    ++changes;
  });
  CHECK(changes > 1);
}

TEST_CASE("Notes are of the form of their kind", "[model]") {
  for (const Sample& sample : AllSamples()) {
    ForEachSection(sample, ViewKind::kSass, [&](const InputSection& section, std::uint32_t) {
      if (section.role != SectionRole::kCudaNote) return;
      const std::size_t at = sample.PlaceOf(section.data);
      constexpr std::size_t kVersion = 24;
      for (const std::size_t word : {std::size_t{0}, std::size_t{4}, std::size_t{8}, kVersion}) {
        CAPTURE(word);
        CHECK_FALSE(Refusal(sample.With(at + word, 1)).empty());
      }
    });
  }
}

}  // namespace
}  // namespace devlink::testing
