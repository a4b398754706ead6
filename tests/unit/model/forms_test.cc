// SPDX-License-Identifier: Apache-2.0
//
// Forms that every cubin of ptxas and nvlink -r has, and that do not follow from anything else in
// it: changed in each section, record, relocation and symbol of some files of ptxas.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/call_graph_records.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "model/module.h"
#include "model/variable_check.h"
#include "support/catch.h"
#include "unit/model/damage_sample.h"

namespace devlink::testing {
namespace {

using format::Sym;

TEST_CASE("A section has the flags of its kind and names its symbols", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachSection(sample, ViewKind::kSass, [&](const InputSection& section, std::uint32_t i) {
      CAPTURE(section.name);
      const std::size_t header = sample.HeaderOf(i);
      std::uint64_t free = 0;
      if (section.role == SectionRole::kText) free = format::kShfBarriers;
      // It is taken to be there where sh_info is a number.
      if (section.info != 0) free |= format::kShfInfoLink;
      if (section.role == SectionRole::kCudaNote) free |= format::kShfInfoLink;
      for (unsigned bit = 0; bit < 32; ++bit) {
        if ((free >> bit & 1) != 0) continue;
        CAPTURE(bit);
        const std::size_t at = header + offsetof(format::Shdr, flags) + bit / 8;
        CHECK_FALSE(Refusal(sample.With(at, static_cast<std::uint8_t>(1U << bit % 8))).empty());
        ++changes;
      }
      const bool names_symbols = section.role == SectionRole::kText ||
                                 section.role == SectionRole::kRelocations ||
                                 section.role == SectionRole::kCallGraph || IsInfo(section);
      if (!names_symbols) return;
      CHECK_FALSE(Refusal(sample.WithWord(header + offsetof(format::Shdr, link), section.link - 1))
                      .empty());
    });
  }
  CHECK(changes > 1000);
}

TEST_CASE("Of some kinds of section there is one", "[model]") {
  const SectionRole kinds[] = {SectionRole::kToolNote,   SectionRole::kCudaNote,
                               SectionRole::kModuleInfo, SectionRole::kCompat,
                               SectionRole::kCallGraph,  SectionRole::kPrototype,
                               SectionRole::kGlobalInit, SectionRole::kGlobal};
  const auto is_one = [&](const InputSection& section) {
    return std::ranges::find(kinds, section.role) != std::end(kinds);
  };
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachSection(sample, ViewKind::kSass, [&](const InputSection& section, std::uint32_t i) {
      // Without its own note a file is held to less.
      if (!is_one(section) || section.role == SectionRole::kToolNote) return;
      ForEachSection(sample, ViewKind::kSass, [&](const InputSection& other, std::uint32_t o) {
        if (!is_one(other) || i == o) return;
        CAPTURE(section.name, other.name);
        // The header but for where the section lies.
        const format::Shdr header = sample.At<format::Shdr>(sample.HeaderOf(i));
        format::Shdr changed = sample.At<format::Shdr>(sample.HeaderOf(o));
        changed.offset = header.offset;
        changed.size = header.size;
        CHECK_FALSE(Refusal(sample.WithValue(sample.HeaderOf(i), changed)).empty());
        ++changes;
      });
    });
  }
  CHECK(changes > 50);
}

TEST_CASE("The note of the tools names one", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachSection(sample, ViewKind::kSass, [&](const InputSection& section, std::uint32_t i) {
      if (section.role != SectionRole::kToolNote) return;
      const std::size_t size = sample.HeaderOf(i) + offsetof(format::Shdr, size);
      CHECK_FALSE(Refusal(sample.WithWord(size, 0)).empty());
      ++changes;
    });
  }
  CHECK(changes > 5);
}

TEST_CASE("A function's attributes are those of functions, a kernel's those of kernels",
          "[model]") {
  int kernels = 0;
  int marks = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachAttribute(sample, [&](const auto& section, const auto& record, std::size_t at) {
      if (section.role != SectionRole::kFunctionInfo) return;
      CAPTURE(section.name, record.id);
      const auto with_id = [&](std::uint8_t id) {
        return Refusal(sample.With(at + 1, static_cast<std::uint8_t>(id ^ record.id)));
      };
      switch (record.id) {
        case format::kAttrMaxRegCount:
          CHECK_FALSE(with_id(format::kAttrNumMbarriers).empty());
          ++kernels;
          break;
        case format::kAttrSparseMmaMask:
          CHECK_FALSE(with_id(format::kAttrMaxRegCount).empty());
          break;
        case format::kAttrParamCbank:
        case format::kAttrCbankParamSize:
        case format::kAttrFinalizerOptions:
          CHECK_FALSE(with_id(0x4b).empty());  // of which nothing is known
          break;
        default:
          break;
      }
      if (record.format != format::kInfoNoValue) return;
      CHECK_FALSE(Refusal(sample.With(at + 2, 1)).empty());
      ++marks;
    });
  }
  CHECK(kernels > 5);
  CHECK(marks > 3);
}

TEST_CASE("An attribute stands once among those of its function", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    std::vector<std::pair<std::size_t, format::InfoRecord>> before;  // of the same section
    std::string_view section_before;
    ForEachAttribute(sample, [&](const auto& section, const auto& record, std::size_t at) {
      if (section.role != SectionRole::kFunctionInfo) return;
      if (section.name != section_before) before.clear();
      section_before = section.name;
      for (const auto& [place, other] : before) {
        const bool alike = other.format == record.format &&
                           other.payload.size() == record.payload.size() && other.id != record.id;
        const bool repeats =
            other.id == format::kAttrKparamInfo || record.id == format::kAttrKparamInfo;
        if (!alike || repeats) continue;
        CAPTURE(section.name, record.id, other.id);
        const auto change = static_cast<std::uint8_t>(other.id ^ record.id);
        CHECK_FALSE(Refusal(sample.With(at + 1, change)).empty());
        ++changes;
      }
      before.emplace_back(at, record);
    });
  }
  CHECK(changes > 20);
}

TEST_CASE("Code up to sm_89 says its registers, too", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachSection(sample, ViewKind::kSass, [&](const InputSection& section, std::uint32_t i) {
      if (section.role != SectionRole::kText) return;
      CAPTURE(section.name);
      const std::size_t registers = sample.HeaderOf(i) + offsetof(format::Shdr, info) + 3;
      CHECK_FALSE(Refusal(sample.With(registers, 4)).empty());
      ++changes;
    });
  }
  CHECK(changes > 10);
}

TEST_CASE("A field has one relocation, which its instruction can have", "[model]") {
  int fields = 0;
  int instructions = 0;
  for (const Sample& sample : AllSamples()) {
    std::vector<std::size_t> before;  // of the same list
    ForEachRelocation(sample, [&](const ModuleView& view, const InputSection& target,
                                  std::size_t at, bool is_first) {
      CAPTURE(target.name);
      const std::size_t offset = at + offsetof(format::Rela, offset);
      if (is_first) before.clear();
      const bool may_repeat = target.role == SectionRole::kFunctionConstants;
      for (const std::size_t other : before) {
        if (may_repeat) break;
        CHECK_FALSE(Refusal(sample.WithWord(offset, sample.WordAt(other))).empty());
        ++fields;
      }
      before.push_back(offset);
      if (target.role != SectionRole::kText || view.kind() != ViewKind::kSass) return;
      const std::uint32_t type = sample.WordAt(at + offsetof(format::Rela, type));
      for (std::uint32_t place = 0; place < target.size; place += format::kInstructionSize) {
        const std::uint32_t word = sample.WordAt(sample.PlaceOf(target.data) + place);
        if (format::CanBeOfInstruction(type, word)) continue;
        CHECK_FALSE(Refusal(sample.WithWord(offset, place)).empty());
        ++instructions;
      }
    });
  }
  CHECK(fields > 20);
  CHECK(instructions > 100);
}

TEST_CASE("A relocation of values is of a variable", "[model]") {
  using internal::PlacedVariable;
  const format::Rel relocation{.offset = 8, .type = format::kRelocAbs64, .symbol = 1};
  std::vector<std::uint8_t> bytes(sizeof(relocation));
  std::memcpy(bytes.data(), &relocation, sizeof(relocation));
  std::vector<InputSection> sections(3);
  sections[1].role = SectionRole::kGlobalInit;
  sections[2].role = SectionRole::kRelocations;
  sections[2].info = 1;
  sections[2].entry_size = sizeof(relocation);
  sections[2].data = bytes;
  const auto wrong = [&](std::vector<PlacedVariable> variables) {
    return !internal::WrongInPointers(sections, variables).what.empty();
  };
  CHECK_FALSE(wrong({{.section = 1, .begin = 8, .end = 16}}));
  CHECK_FALSE(
      wrong({{.section = 1, .begin = 0, .end = 16}, {.section = 1, .begin = 16, .end = 24}}));
  CHECK(wrong({}));
  CHECK(wrong({{.section = 1, .begin = 0, .end = 8}, {.section = 1, .begin = 16, .end = 24}}));
  CHECK(wrong({{.section = 1, .begin = 8, .end = 12}}));
  CHECK(wrong({{.section = 2, .begin = 8, .end = 16}}));
}

TEST_CASE("A call graph has nothing twice", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachSection(sample, ViewKind::kSass, [&](const InputSection& section, std::uint32_t) {
      if (section.role != SectionRole::kCallGraph) return;
      format::CallGraphReader pairs(section.data);
      format::CallGraphPair pair;
      format::CallGraphPair before;
      while (pairs.Next(pair)) {
        if (pair.list == before.list && pair.list != format::CallGraphList::kIndirectCallers) {
          const std::size_t at = sample.PlaceOf(section.data) + pairs.offset() - 8;
          Cubin bytes = sample.WithWord(at, before.first);
          std::memcpy(bytes.data() + at + 4, &before.second, sizeof(before.second));
          CHECK_FALSE(Refusal(bytes).empty());
          ++changes;
        }
        before = pair;
      }
    });
  }
  CHECK(changes > 3);
}

TEST_CASE("A symbol of a section has its name, no place, and none beside it", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    for (const ViewKind kind : sample.kinds()) {
      const ModuleView& view = sample.view(kind);
      std::vector<std::size_t> before;
      ForEachSymbol(sample, view, [&](const internal::InputSymbol& symbol, std::size_t at) {
        if (symbol.type != format::kSttSection || symbol.section == format::kShnUndef) return;
        CAPTURE(symbol.name);
        CHECK_FALSE(Refusal(sample.WithWord(at + offsetof(Sym, value), 16)).empty());
        for (const std::uint8_t type : {format::kSttObject, format::kSttFunc}) {
          const auto change = static_cast<std::uint8_t>(type ^ format::kSttSection);
          CHECK_FALSE(Refusal(sample.With(at + offsetof(Sym, info), change)).empty());
        }
        for (const std::size_t other : before) {
          const auto change =
              static_cast<std::uint8_t>(sample.ByteAt(at + offsetof(Sym, shndx)) ^
                                        sample.ByteAt(other + offsetof(Sym, shndx)));
          CHECK_FALSE(Refusal(sample.With(at + offsetof(Sym, shndx), change)).empty());
          ++changes;
        }
        before.push_back(at);
      });
    }
  }
  CHECK(changes > 100);
}

TEST_CASE("A function is whole, and a kernel has one name", "[model]") {
  int aliases = 0;
  for (const Sample& sample : AllSamples()) {
    for (const ViewKind kind : sample.kinds()) {
      const ModuleView& view = sample.view(kind);
      std::vector<std::uint32_t> kernels;  // their sections
      ForEachFunction(sample, view, [&](const internal::InputSymbol& symbol, std::size_t) {
        if ((symbol.other & format::kStoEntry) != 0) kernels.push_back(symbol.section);
      });
      ForEachSymbol(sample, view, [&](const internal::InputSymbol& symbol, std::size_t at) {
        if (symbol.type != format::kSttFunc) return;
        CAPTURE(symbol.name);
        const std::size_t other = at + offsetof(Sym, other);
        CHECK_FALSE(Refusal(sample.With(other, format::kStoManaged)).empty());
        CHECK_FALSE(Refusal(sample.With(at + offsetof(Sym, size), 1)).empty());
        CHECK_FALSE(Refusal(sample.WithWord(at + offsetof(Sym, value), 16)).empty());
        if (symbol.section != format::kShnUndef) return;
        for (const std::uint32_t kernel : kernels) {
          const auto change = static_cast<std::uint8_t>(kernel);
          CHECK_FALSE(Refusal(sample.With(at + offsetof(Sym, shndx), change)).empty());
          ++aliases;
        }
      });
    }
  }
  CHECK(aliases > 0);
}

TEST_CASE("What a compiler made a constant of lies where its name says", "[model]") {
  int changes = 0;
  ForEachSymbolOfAll([&](const Sample& sample, const auto& symbol, std::size_t at) {
    if (symbol.name.find(format::kOptimizerMark) == std::string_view::npos) return;
    CAPTURE(symbol.name);
    CHECK_FALSE(Refusal(sample.With(at + offsetof(Sym, value), 16)).empty());
    CHECK_FALSE(Refusal(sample.With(at + offsetof(Sym, size), 4)).empty());
    CHECK_FALSE(Refusal(sample.With(at + offsetof(Sym, other), 1)).empty());
    ++changes;
    if (symbol.name.ends_with('9')) return;
    // It ends behind its section, also by its name: nvlink -r leaves such a one, an assembler none.
    const base::Bytes name(reinterpret_cast<const std::uint8_t*>(symbol.name.data()),
                           symbol.name.size());
    Cubin beyond =
        sample.With(sample.PlaceOf(name.last(1)), static_cast<std::uint8_t>(name.back() ^ '9'));
    const std::uint64_t size = symbol.size + static_cast<std::uint64_t>('9' - name.back());
    std::memcpy(beyond.data() + at + offsetof(Sym, size), &size, sizeof(size));
    const std::string refusal = Refusal(std::move(beyond));
    CHECK_FALSE(refusal.empty());
  });
  CHECK(changes > 3);
}

TEST_CASE("What the system keeps of shared memory lies where it always does", "[model]") {
  int changes = 0;
  ForEachSymbolOfAll([&](const Sample& sample, const auto& symbol, std::size_t at) {
    if (!format::IsReservedSharedSymbol(symbol.name)) return;
    CAPTURE(symbol.name);
    CHECK_FALSE(Refusal(sample.With(at + offsetof(Sym, value), 0x20)).empty());
    ++changes;
  });
  CHECK(changes > 1);
}

TEST_CASE("Records of frames fill their section, and say of which function they are", "[model]") {
  int frames = 0;
  int functions = 0;
  for (const Sample& sample : AllSamples()) {
    for (const ViewKind kind : sample.kinds()) {
      ForEachSection(sample, kind, [&](const InputSection& section, std::uint32_t) {
        if (section.name != format::section_name::kDebugFrame) return;
        const std::size_t length = sample.PlaceOf(section.data) + 4;
        CHECK_FALSE(Refusal(sample.With(length, 8)).empty());
        CHECK_FALSE(Refusal(sample.With(length + 3, 0x40)).empty());
        ++frames;
      });
    }
    ForEachRelocation(
        sample, [&](const ModuleView& view, const InputSection& target, std::size_t at, bool) {
          if (target.name != format::section_name::kDebugFrame) return;
          // Others say to which common record it belongs, or clear what is left of it.
          const std::uint32_t type = sample.WordAt(at + offsetof(format::Rela, type));
          const std::uint32_t symbol = sample.WordAt(at + offsetof(format::Rela, symbol));
          if (format::AsksForNothing(*format::FindRelocation(type)) ||
              view.SymbolTypeAt(symbol) != format::kSttFunc) {
            return;
          }
          CHECK_FALSE(Refusal(sample.With(at + offsetof(format::Rela, offset), 8)).empty());
          ++functions;
        });
  }
  CHECK(frames > 5);
  CHECK(functions > 5);
}

TEST_CASE("Prototypes are written as prototypes", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    ForEachSection(sample, ViewKind::kSass, [&](const InputSection& section, std::uint32_t) {
      if (section.role != SectionRole::kPrototype) return;
      std::uint32_t name = 0;  // of a section, in the same table
      ForEachSymbol(sample, sample.view(ViewKind::kSass), [&](const auto& symbol, std::size_t at) {
        if (symbol.type == format::kSttSection) name = sample.WordAt(at);
      });
      for (std::size_t at = sample.PlaceOf(section.data) + 4;
           at < sample.PlaceOf(section.data) + section.size; at += 8) {
        CHECK_FALSE(Refusal(sample.WithWord(at, name)).empty());
        ++changes;
      }
    });
  }
  CHECK(changes > 3);
}

}  // namespace
}  // namespace devlink::testing
