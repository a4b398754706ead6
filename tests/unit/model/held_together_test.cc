// SPDX-License-Identifier: Apache-2.0
//
// What a cubin says twice, said otherwise in one place. The files are ptxas's (tests/golden).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "format/call_graph_records.h"
#include "format/elf_cuda.h"
#include "format/notes.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "model/module.h"
#include "support/catch.h"
#include "unit/model/damage_sample.h"

namespace devlink::testing {
namespace {

using format::InfoViews;

constexpr ViewKind kBothViews[] = {ViewKind::kSass, ViewKind::kMercury};

TEST_CASE("An attribute that both views have is not changed in one of them", "[model][mercury]") {
  int changes = 0;
  for (const Sample& sample : TwoViewSamples()) {
    for (const ViewKind kind : kBothViews) {
      for (const InputSection& section : sample.view(kind).sections()) {
        if (section.role != SectionRole::kFunctionInfo &&
            section.role != SectionRole::kModuleInfo) {
          continue;
        }
        ForEachRecord(sample, section, [&](const format::InfoRecord& record, std::size_t at) {
          const InfoViews views = format::FindInfoAttribute(record.id).views;
          if (views == InfoViews::kUnknown || views == InfoViews::kOne) return;
          // Places in code may be others as long as they stand in the same order.
          const std::size_t size = views == InfoViews::kSame ? 4 + record.payload.size() : 4;
          for (std::size_t i = 0; i < size; ++i) {
            CAPTURE(section.name, record.id, i);
            CHECK_FALSE(Refusal(sample.With(at + i, 0x11)).empty());
            ++changes;
          }
        });
      }
    }
  }
  CHECK(changes > 500);
}

TEST_CASE("A relocation of code says the same in both views", "[model][mercury]") {
  int changes = 0;
  for (const Sample& sample : TwoViewSamples()) {
    for (const ViewKind kind : kBothViews) {
      const ModuleView& view = sample.view(kind);
      const std::vector<InputSection> sections = view.sections();
      for (const InputSection& list : sections) {
        if (list.role != SectionRole::kRelocations) continue;
        if (sections[list.info].role != SectionRole::kText) continue;
        const std::size_t begin = sample.PlaceOf(list.data);
        for (std::size_t at = begin; at < begin + list.size; at += sizeof(format::Rela)) {
          const std::uint32_t symbol = sample.WordAt(at + offsetof(format::Rela, symbol));
          if (view.SymbolAt(symbol).name.starts_with(".nv.reservedSmem.")) continue;
          CAPTURE(list.name, at - begin);
          const std::size_t type_at = at + offsetof(format::Rela, type);
          const std::uint32_t type = sample.WordAt(type_at);
          // Two others at most stand for the same in the other view.
          std::vector<std::uint32_t> taken;
          const std::uint32_t first = kind == ViewKind::kMercury ? format::kMercuryRelocations : 0;
          for (std::uint32_t other = first; format::FindRelocation(other) != nullptr; ++other) {
            if (other != type && Refusal(sample.WithWord(type_at, other)).empty()) {
              taken.push_back(other);
            }
            ++changes;
          }
          CAPTURE(type, taken);
          CHECK(taken.size() <= 2);
          if (kind == ViewKind::kSass) {  // no place of an instruction
            CHECK_FALSE(Refusal(sample.With(at + offsetof(format::Rela, offset), 4)).empty());
          }
          if (view.SymbolSectionAt(symbol) == list.info) continue;
          CHECK_FALSE(Refusal(sample.With(at + offsetof(format::Rela, addend), 4)).empty());
        }
      }
    }
  }
  CHECK(changes > 500);
}

TEST_CASE("Constants and initial values are the same in both views", "[model][mercury]") {
  int changes = 0;
  for (const Sample& sample : TwoViewSamples()) {
    for (const ViewKind kind : kBothViews) {
      const ModuleView& view = sample.view(kind);
      const std::vector<InputSection> sections = view.sections();
      for (std::uint32_t i = 0; i < sections.size(); ++i) {
        const InputSection& section = sections[i];
        const bool is_data =
            section.role == SectionRole::kConstantBank ||
            section.role == SectionRole::kGlobalInit ||
            (section.role == SectionRole::kFunctionConstants && !section.IsParameterBank());
        if (!is_data || section.data.empty()) continue;
        CAPTURE(section.name);
        for (const std::size_t field :
             {offsetof(format::Shdr, flags), offsetof(format::Shdr, offset),
              offsetof(format::Shdr, size), offsetof(format::Shdr, addralign)}) {
          CAPTURE(field);
          CHECK_FALSE(Refusal(sample.With(sample.HeaderOf(i) + field, 4)).empty());
          ++changes;
        }
      }
    }
  }
  CHECK(changes > 10);
}

TEST_CASE("Code is loaded, whole, and called as its section is", "[model]") {
  std::vector<Sample> samples = TwoViewSamples();
  samples.push_back(Golden("indirect_calls.sm_80.2.cubin"));
  for (const Sample& sample : samples) {
    const ModuleView& view = sample.view(ViewKind::kSass);
    int functions = 0;
    for (std::uint32_t i = 0; i < view.section_count(); ++i) {
      if (view.RoleAt(i) != SectionRole::kText) continue;
      CAPTURE(view.SectionAt(i).name);
      const std::size_t header = sample.HeaderOf(i);
      for (const std::uint8_t bit : {1, 8, 16, 64}) {
        CHECK_FALSE(Refusal(sample.With(header + offsetof(format::Shdr, offset), bit)).empty());
      }
      CHECK_FALSE(Refusal(sample.With(header + offsetof(format::Shdr, size), 16)).empty());
      ++functions;
    }
    CHECK(functions > 1);
    ForEachFunction(sample, view, [&](const internal::InputSymbol& function, std::size_t at) {
      CAPTURE(function.name);
      CHECK_FALSE(Refusal(sample.With(at + offsetof(format::Sym, name), 1)).empty());
      CHECK_FALSE(Refusal(sample.With(at + offsetof(format::Sym, value), 16)).empty());
      CHECK_FALSE(Refusal(sample.With(at + offsetof(format::Sym, size), 16)).empty());
    });
  }
}

TEST_CASE("A section is loaded as its kind is in every cubin", "[model]") {
  for (const Sample& sample : AllSamples()) {
    const std::uint32_t count = sample.view(ViewKind::kSass).section_count();
    for (std::uint32_t i = 1; i < count; ++i) {
      for (const std::uint8_t flag : {1, 2, 4}) {
        CAPTURE(i, flag);
        const std::size_t flags = sample.HeaderOf(i) + offsetof(format::Shdr, flags);
        CHECK_FALSE(Refusal(sample.With(flags, flag)).empty());
      }
    }
  }
}

// nvlink -r makes such files of cubins of CUDA 12.2 and earlier.
TEST_CASE("Constants of a function need not be flagged as such", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    const ModuleView& view = sample.view(ViewKind::kSass);
    if (sample.kinds().size() > 1) continue;  // those releases know no such targets
    for (std::uint32_t i = 0; i < view.section_count(); ++i) {
      if (view.RoleAt(i) != SectionRole::kFunctionConstants) continue;
      const std::size_t flags = sample.HeaderOf(i) + offsetof(format::Shdr, flags);
      CHECK(Refusal(sample.With(flags, format::kShfInfoLink)).empty());
      ++changes;
    }
  }
  CHECK(changes > 5);
}

TEST_CASE("No name begins within another", "[model]") {
  for (const Sample& sample : AllSamples()) {
    const std::uint32_t count = sample.view(ViewKind::kSass).section_count();
    for (std::uint32_t i = 1; i < count; ++i) {
      const std::size_t name = sample.HeaderOf(i) + offsetof(format::Shdr, name);
      CHECK_FALSE(Refusal(sample.WithWord(name, sample.WordAt(name) + 1)).empty());
    }
    for (const ViewKind kind : sample.kinds()) {
      ForEachSymbol(sample, sample.view(kind), [&](const auto& symbol, std::size_t at) {
        if (symbol.name.empty()) return;
        CAPTURE(symbol.name);
        CHECK_FALSE(Refusal(sample.WithWord(at, sample.WordAt(at) + 1)).empty());
      });
    }
    for (const InputSection& section : sample.view(ViewKind::kSass).sections()) {
      if (section.role != SectionRole::kPrototype) continue;
      const std::size_t begin = sample.PlaceOf(section.data);
      for (std::size_t at = begin + 4; at < begin + section.size; at += 8) {
        CHECK_FALSE(Refusal(sample.WithWord(at, sample.WordAt(at) + 1)).empty());
      }
    }
  }
}

TEST_CASE("A symbol has no bits that none of its type has", "[model]") {
  for (const Sample& sample : AllSamples()) {
    for (const ViewKind kind : sample.kinds()) {
      ForEachSymbol(sample, sample.view(kind), [&](const auto& symbol, std::size_t at) {
        for (const std::uint8_t bit : {2, 8}) {
          CAPTURE(symbol.name, bit);
          CHECK_FALSE(Refusal(sample.With(at + offsetof(format::Sym, other), bit)).empty());
        }
      });
    }
  }
}

// A longer one would be made of those behind it.
TEST_CASE("An attribute has the size and the form of its kind", "[model]") {
  int longer = 0;
  int branches = 0;
  for (const Sample& sample : AllSamples()) {
    for (const ViewKind kind : sample.kinds()) {
      for (const InputSection& section : sample.view(kind).sections()) {
        if (section.role != SectionRole::kFunctionInfo &&
            section.role != SectionRole::kModuleInfo) {
          continue;
        }
        ForEachRecord(sample, section, [&](const format::InfoRecord& record, std::size_t at) {
          const std::uint8_t payload = format::FindInfoAttribute(record.id).payload;
          CAPTURE(section.name, record.id);
          if (record.id == format::kAttrIndirectBranchTargets) {
            const std::size_t targets = at + 4 + 8;
            for (const std::uint32_t count : {sample.WordAt(targets) + 1, 0U, ~0U}) {
              CHECK_FALSE(Refusal(sample.WithWord(targets, count)).empty());
            }
            ++branches;
          }
          const std::size_t end = sample.PlaceOf(section.data) + section.data.size();
          const std::size_t behind = at + 4 + record.payload.size();
          if (payload == 0 || record.format != format::kInfoSized || behind == end) return;
          // As long as the next record allows.
          if (payload == format::kInfoWords && record.id != format::kAttrExterns) return;
          const bool next_has_payload = sample.ByteAt(behind) == format::kInfoSized;
          const std::uint32_t more = 4 + (next_has_payload ? sample.WordAt(behind) >> 16 : 0);
          const std::uint32_t head = sample.WordAt(at);
          CHECK_FALSE(Refusal(sample.WithWord(at, head + (more << 16))).empty());
          ++longer;
        });
      }
    }
  }
  CHECK(longer > 100);
  CHECK(branches > 3);
}

TEST_CASE("Values and constants end with the last variable", "[model]") {
  int changes = 0;
  for (const Sample& sample : AllSamples()) {
    const std::vector<InputSection> sections = sample.view(ViewKind::kSass).sections();
    for (std::uint32_t i = 0; i < sections.size(); ++i) {
      const InputSection& section = sections[i];
      const bool of_variables = section.role == SectionRole::kConstantBank ||
                                section.role == SectionRole::kGlobalInit ||
                                section.role == SectionRole::kFunctionConstants;
      if (!of_variables || section.IsParameterBank()) continue;
      CAPTURE(section.name);
      const std::size_t size = sample.HeaderOf(i) + offsetof(format::Shdr, size);
      const std::string said = Refusal(sample.WithWord(size, sample.WordAt(size) + 1));
      CHECK_FALSE(said.empty());
      changes += said.find("belong to no variable") != std::string::npos ? 1 : 0;
    }
  }
  CHECK(changes > 2);
}

TEST_CASE("A table of branches has places of its own function", "[model][mercury]") {
  int changes = 0;
  for (const Sample& sample : TwoViewSamples()) {
    const ModuleView& view = sample.view(ViewKind::kMercury);
    const std::vector<InputSection> sections = view.sections();
    for (const InputSection& list : sections) {
      if (list.role != SectionRole::kRelocations ||
          sections[list.info].role != SectionRole::kFunctionConstants) {
        continue;
      }
      const std::size_t symbol = sample.PlaceOf(list.data) + offsetof(format::Rela, symbol);
      ForEachFunction(sample, view, [&](const internal::InputSymbol& other, std::size_t at) {
        const std::uint32_t own = sample.WordAt(symbol);
        if (view.SymbolSectionAt(own) == other.section) return;
        CAPTURE(list.name, other.name);
        const auto table = std::ranges::find(sections, format::kShtSymtab, &InputSection::type);
        const auto index =
            static_cast<std::uint32_t>((at - sample.PlaceOf(table->data)) / sizeof(format::Sym));
        CHECK_FALSE(Refusal(sample.WithWord(symbol, index)).empty());
        ++changes;
      });
    }
  }
  CHECK(changes > 0);
}

TEST_CASE("A function stands for the same code in both views", "[model][mercury]") {
  int functions = 0;
  int aliases = 0;
  for (const Sample& sample : TwoViewSamples()) {
    for (const ViewKind kind : kBothViews) {
      const ModuleView& view = sample.view(kind);
      ForEachFunction(sample, view, [&](const internal::InputSymbol& function, std::size_t at) {
        for (std::uint32_t other = 0; other < view.section_count(); ++other) {
          if (view.RoleAt(other) != SectionRole::kText || other == function.section) continue;
          const auto change = static_cast<std::uint8_t>(function.section ^ other);
          CAPTURE(function.name, other);
          CHECK_FALSE(Refusal(sample.With(at + offsetof(format::Sym, shndx), change)).empty());
          function.name == "same" ? ++aliases : ++functions;
        }
      });
    }
  }
  CHECK(functions > 20);
  CHECK(aliases == 4);  // of two other functions, in two views
}

TEST_CASE("Data lies where data can lie", "[model]") {
  std::vector<Sample> samples = TwoViewSamples();
  for (const char* const file : {"constants.sm_80.1.cubin", "globals.sm_90.1.cubin"}) {
    samples.push_back(Golden(file));
  }
  int changes = 0;
  for (const Sample& sample : samples) {
    const ModuleView& view = sample.view(ViewKind::kSass);
    for (std::uint32_t i = 0; i < view.section_count(); ++i) {
      const SectionRole role = view.RoleAt(i);
      if (role != SectionRole::kConstantBank && role != SectionRole::kGlobalInit &&
          role != SectionRole::kFunctionConstants) {
        continue;
      }
      CAPTURE(view.SectionAt(i).name);
      const std::size_t offset = sample.HeaderOf(i) + offsetof(format::Shdr, offset);
      const std::size_t flags = sample.HeaderOf(i) + offsetof(format::Shdr, flags);
      CHECK_FALSE(Refusal(sample.With(flags, 2)).empty());
      CHECK_FALSE(Refusal(sample.WithWord(offset, 0)).empty());
      if (view.SectionAt(i).align > 1) CHECK_FALSE(Refusal(sample.With(offset, 1)).empty());
      ++changes;
    }
  }
  CHECK(changes > 5);
}

// nvlink 13.0 links them; the file is of ptxas 12.8, from second.cu.
TEST_CASE("Capsules of CUDA 12.8 are of a form of their own", "[model][mercury]") {
  CHECK(Refusal(MercuryGolden("second_12_8.cubin")).empty());
}

TEST_CASE("Parameters are as large as their kernel says", "[model]") {
  for (const char* const file : {"indirect_calls.sm_80.2.cubin", "globals.sm_90.1.cubin"}) {
    const Sample sample = Golden(file);
    const ModuleView& view = sample.view(ViewKind::kSass);
    int kernels = 0;
    for (std::uint32_t i = 0; i < view.section_count(); ++i) {
      if (!view.SectionAt(i).IsParameterBank()) continue;
      ++kernels;
      const std::size_t size = sample.HeaderOf(i) + offsetof(format::Shdr, size);
      CHECK(Refusal(sample.WithWord(size, sample.WordAt(size) - 4)).find("kernel's parameters") !=
            std::string::npos);
    }
    CHECK(kernels > 0);
    for (const InputSection& section : view.sections()) {
      if (section.role != SectionRole::kFunctionInfo) continue;
      ForEachRecord(sample, section, [&](const format::InfoRecord& record, std::size_t at) {
        if (record.id == format::kAttrParamCbank) {
          CHECK_FALSE(Refusal(sample.With(at + 1, 0x1e)).empty());  // another attribute
        } else if (record.id == format::kAttrCbankParamSize) {
          CHECK_FALSE(Refusal(sample.With(at + 2, 4)).empty());
        }
      });
    }
  }
}

TEST_CASE("The call graph names what code refers to, list by list", "[model]") {
  int changes = 0;
  for (const char* const file : {"mercury/first.cubin", "mercury/second.cubin",
                                 "indirect_calls.sm_80.2.cubin", "indirect_calls.sm_90.1.cubin"}) {
    const Sample sample = Golden(file);
    const ModuleView& view = sample.view(ViewKind::kSass);
    const std::vector<InputSection> sections = view.sections();
    const auto graph = std::ranges::find(sections, SectionRole::kCallGraph, &InputSection::role);
    REQUIRE(graph != sections.end());
    const std::size_t begin = sample.PlaceOf(graph->data);
    for (std::size_t at = begin; at < begin + graph->size; at += 8) {
      const std::uint32_t first = sample.WordAt(at);
      const std::uint32_t second = sample.WordAt(at + 4);
      CAPTURE(file, at - begin, first, second);
      if (first == 0) {  // a marker
        for (std::uint32_t list = 1; list <= 5; ++list) {
          const std::uint32_t marker =
              format::CallGraphMarker(static_cast<format::CallGraphList>(list));
          if (marker == second) continue;
          CHECK_FALSE(Refusal(sample.WithWord(at + 4, marker)).empty());
        }
        ++changes;
      } else {
        CHECK_FALSE(Refusal(sample.WithWord(at, 0)).empty());
      }
    }
    const std::size_t header =
        sample.HeaderOf(static_cast<std::uint32_t>(graph - sections.begin()));
    // Without the last two lists.
    CHECK_FALSE(Refusal(sample.WithWord(header + offsetof(format::Shdr, size), 8)).empty());
  }
  CHECK(changes >= 16);
}

TEST_CASE("A call that the call graph ascribes to another function is missed", "[model]") {
  int moved = 0;
  for (const char* const file : {"mercury/first.cubin", "mercury/second.cubin",
                                 "dead_functions.sm_80.1.cubin", "diamond.sm_90.1.cubin"}) {
    const Sample sample = Golden(file);
    const ModuleView& view = sample.view(ViewKind::kSass);
    const std::vector<InputSection> sections = view.sections();
    const auto graph = std::ranges::find(sections, SectionRole::kCallGraph, &InputSection::role);
    REQUIRE(graph != sections.end());
    format::CallGraphReader pairs(graph->data);
    format::CallGraphPair pair;
    while (pairs.Next(pair)) {
      if (pair.list != format::CallGraphList::kCalls) continue;
      const std::size_t at = sample.PlaceOf(graph->data) + pairs.offset() - 8;
      for (std::uint32_t other = 1; other < view.symbol_count(); ++other) {
        if (view.SymbolTypeAt(other) != format::kSttFunc || other == pair.first) continue;
        CAPTURE(file, pair.first, pair.second, other);
        CHECK_FALSE(Refusal(sample.WithWord(at, other)).empty());
        ++moved;
      }
    }
  }
  CHECK(moved > 4);
}

// The file with a note that it is of another release of the toolkit.
Cubin OfToolkit(const Sample& sample, Cubin bytes, std::uint16_t toolkit) {
  const std::vector<InputSection> sections = sample.view(ViewKind::kSass).sections();
  const auto note = std::ranges::find(sections, SectionRole::kCudaNote, &InputSection::role);
  REQUIRE(note != sections.end());
  auto info = format::ReadCudaInfo(note->data);
  REQUIRE(info.has_value());
  info->toolkit = toolkit;
  Cubin patched(note->data.begin(), note->data.end());
  format::PatchCudaInfo(*info, patched);
  std::ranges::copy(patched,
                    bytes.begin() + static_cast<std::ptrdiff_t>(sample.PlaceOf(note->data)));
  return bytes;
}

// ptxas 12.0 leaves some out; 12.2 and later do not.
TEST_CASE("An address that the call graph does not name is missed from CUDA 12.2 on", "[model]") {
  int missed = 0;
  for (const char* const file :
       {"mercury/first.cubin", "mercury/second.cubin", "indirect_calls.sm_80.2.cubin"}) {
    const Sample sample = Golden(file);
    const ModuleView& view = sample.view(ViewKind::kSass);
    const std::vector<InputSection> sections = view.sections();
    const auto graph = std::ranges::find(sections, SectionRole::kCallGraph, &InputSection::role);
    REQUIRE(graph != sections.end());
    format::CallGraphReader pairs(graph->data);
    format::CallGraphPair pair;
    while (pairs.Next(pair)) {
      if (pair.list != format::CallGraphList::kAddressTakers || pair.first == pair.second) continue;
      const std::size_t at = sample.PlaceOf(graph->data) + pairs.offset() - 8;
      // As if the function itself were the one that takes it.
      const Cubin changed = sample.WithWord(at, pair.second);
      CAPTURE(file, pair.first, pair.second);
      if (Refusal(changed).find("does not name") == std::string::npos) continue;  // named twice
      CHECK_FALSE(Refusal(OfToolkit(sample, changed, 122)).empty());
      if (sample.kinds().size() == 1) CHECK(Refusal(OfToolkit(sample, changed, 120)).empty());
      ++missed;
    }
  }
  CHECK(missed > 1);
}

TEST_CASE("A function has a prototype in one place", "[model]") {
  int changes = 0;
  int named = 0;
  for (const char* const file : {"mercury/first.cubin", "mercury/second.cubin",
                                 "mercury/alias.cubin", "indirect_calls.sm_80.1.cubin"}) {
    const Sample sample = Golden(file);
    const ModuleView& view = sample.view(ViewKind::kSass);
    const std::vector<InputSection> sections = view.sections();
    const auto list = std::ranges::find(sections, SectionRole::kPrototype, &InputSection::role);
    if (list == sections.end()) continue;
    const std::size_t begin = sample.PlaceOf(list->data);
    for (std::size_t at = begin; at < begin + list->size; at += 8) {
      for (std::uint32_t other = 1; other < view.symbol_count(); ++other) {
        if (other == sample.WordAt(at)) continue;
        CAPTURE(file, at - begin, other);
        const std::string refusal = Refusal(sample.WithWord(at, other));
        CHECK_FALSE(refusal.empty());
        ++changes;
        if (refusal.find("' has no prototype, or two") != std::string::npos) ++named;
      }
    }
  }
  CHECK(changes > 20);
  CHECK(named > 10);
}

}  // namespace
}  // namespace devlink::testing
