// SPDX-License-Identifier: Apache-2.0
//
// The inputs are ptxas's (tests/golden/mercury). What is made of them is read as strictly as an
// assembler's file, and says of all that stays what the whole says.
#include "finalize/without_functions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/value_bytes.h"
#include "format/call_graph_records.h"
#include "format/capsule.h"
#include "format/frames.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "format/views.h"
#include "model/module.h"
#include "support/catch.h"
#include "support/mercury_golden.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

using format::ViewKind;
using internal::CodeNames;
using internal::InputSection;
using internal::Module;
using internal::ModuleView;
using internal::SectionRole;
using internal::WithoutFunctions;

using golden_code::kDynamic;
using golden_code::kUnused;

CodeNames Names(std::initializer_list<std::string_view> names) {
  CodeNames out;
  for (const std::string_view name : names) out.insert(name);
  return out;
}

std::string NameOf(const ModuleView& view, std::uint32_t symbol) {
  const auto read = view.SymbolAt(symbol);
  return read.name.empty() ? std::string(view.SectionAt(read.section).name)
                           : std::string(read.name);
}

std::string HexOf(base::Bytes bytes) {
  std::string out;
  for (const std::uint8_t byte : bytes)
    out += "0123456789abcdef"[byte >> 4], out += "0123456789abcdef"[byte & 15];
  return out;
}

// The head that an entry of a frame names: by its place in the Mercury view's frames.
std::string HeadAt(const Module& module, std::int64_t place) {
  const ModuleView& view = module.view(ViewKind::kMercury);
  for (const InputSection& section : view.sections()) {
    if (section.role != SectionRole::kDebug || section.name != ".debug_frame") continue;
    const auto frames = format::SplitFrames(section.data);
    REQUIRE(frames.has_value());
    for (const format::Frame& frame : *frames) {
      if (frame.cie.begin != static_cast<std::uint64_t>(place)) continue;
      return HexOf(section.data.subspan(frame.cie.begin, frame.cie.size)) + ' ' +
             HexOf(section.data.subspan(frame.code.begin, frame.code.size));
    }
  }
  return "nowhere";
}

// What a section says, with names in the place of numbers: a line each.
std::vector<std::string> SayingsOf(const Module& module, const ModuleView& view,
                                   const InputSection& section) {
  std::vector<std::string> out;
  if (section.role == SectionRole::kRelocations) {
    const bool of_frames = view.SectionAt(section.info).name == ".debug_frame";
    for (const format::Rela& entry :
         format::ReadRelocations(section.data, section.type == format::kShtRela)) {
      if (of_frames && view.SymbolTypeAt(entry.symbol) == format::kSttSection) {
        out.push_back("head " + HeadAt(module, entry.addend));
        continue;
      }
      out.push_back(
          NameOf(view, entry.symbol) + ' ' + std::to_string(entry.type) +
          (of_frames ? ""
                     : ' ' + std::to_string(entry.offset) + ' ' + std::to_string(entry.addend)));
    }
  } else if (section.role == SectionRole::kModuleInfo ||
             section.role == SectionRole::kFunctionInfo) {
    format::InfoReader reader(section.data);
    for (format::InfoRecord record; reader.Next(record);) {
      std::string line = std::to_string(record.id) + ' ' + std::to_string(record.value);
      const std::uint64_t symbols = format::SymbolsOf(record).count;
      for (std::uint64_t i = 0; i < symbols; ++i) {
        line += ' ' +
                NameOf(view, base::BoundedReader(record.payload).ReadOrZero<std::uint32_t>(4 * i));
      }
      out.push_back(
          line + ' ' +
          HexOf(record.payload.subspan(std::min<std::size_t>(record.payload.size(), 4 * symbols))));
    }
  } else if (section.role == SectionRole::kCallGraph) {
    format::CallGraphReader reader(section.data);
    for (format::CallGraphPair pair; reader.Next(pair);) {
      out.push_back(NameOf(view, pair.first) + ' ' +
                    (format::HoldsSymbolPairs(pair.list) ? NameOf(view, pair.second)
                                                         : std::to_string(pair.second)));
    }
  } else if (section.role == SectionRole::kPrototype) {
    const base::BoundedReader reader(section.data);
    for (std::uint64_t at = 0; at < reader.size(); at += 8) {
      out.push_back(NameOf(view, reader.ReadOrZero<std::uint32_t>(at)) + ' ' +
                    std::to_string(reader.ReadOrZero<std::uint32_t>(at + 4)));
    }
  } else if (section.role == SectionRole::kText && view.kind() == ViewKind::kMercury) {
    out.push_back(HexOf(section.data.subspan(4)));
  } else if (section.name != ".debug_frame" && section.role != SectionRole::kTable) {
    out.push_back(HexOf(section.data));
  }
  return out;
}

using Sayings = std::map<std::string, std::vector<std::string>>;

// By section and symbol, of one view.
Sayings SayingsOf(const Module& module, ViewKind kind) {
  const ModuleView& view = module.view(kind);
  const std::vector<InputSection> sections = view.sections();
  Sayings out;
  for (const InputSection& section : sections) {
    if (section.role == SectionRole::kOtherView) continue;
    std::vector<std::string>& lines = out[std::string(section.name)];
    lines = SayingsOf(module, view, section);
    const bool is_table = section.role == SectionRole::kTable;
    const std::string of = is_table || section.info == 0 ? ""
                           : section.role == SectionRole::kText
                               ? NameOf(view, section.info)
                               : std::string(sections[section.info].name);
    lines.push_back("of " + of);
    if (section.role == SectionRole::kText && kind == ViewKind::kMercury) {
      const std::uint32_t code = format::MachineCodeOf(section.data);
      lines.push_back("from " + std::string(module.sass().SectionAt(code).name));
    }
  }
  for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
    const auto symbol = view.SymbolAt(i);
    const std::string in =
        symbol.section < sections.size() ? std::string(sections[symbol.section].name) : "elsewhere";
    out["symbol " + NameOf(view, i)].push_back(in + ' ' + std::to_string(symbol.value) + ' ' +
                                               std::to_string(symbol.size));
  }
  return out;
}

// Lines that name what went, and names of it.
void LeaveOut(Sayings& all, std::string_view function) {
  std::erase_if(all,
                [&](const auto& entry) { return entry.first.find(function) != std::string::npos; });
  for (auto& [name, lines] : all) {
    bool is_gone = false;  // the line before
    std::erase_if(lines, [&](const std::string& line) {
      is_gone = line.find(function) != std::string::npos || (is_gone && line.starts_with("head"));
      return is_gone;
    });
  }
}

TEST_CASE("A file without functions says of the rest what it said", "[finalize]") {
  const auto whole = Module::Load(MercuryGolden("first.cubin"));
  REQUIRE(whole.ok());
  const auto bytes =
      WithoutFunctions(**whole, (*whole)->bytes(), Names({kUnused, kDynamic, ".text.none"}));
  REQUIRE(bytes.has_value());
  CHECK(bytes->size() < (*whole)->bytes().size());
  const auto reduced = Module::Load(*bytes);
  INFO(reduced.status().message());
  REQUIRE(reduced.ok());
  for (const ViewKind kind : {ViewKind::kSass, ViewKind::kMercury}) {
    Sayings expected = SayingsOf(**whole, kind);
    const Sayings left = SayingsOf(**reduced, kind);
    CHECK(expected.contains(std::string(kUnused)));
    CHECK(expected != left);
    LeaveOut(expected, "_Z6Unusedi");
    LeaveOut(expected, "_Z7DynamicPii");
    for (const auto& [name, lines] : expected) {
      INFO(name);
      REQUIRE(left.contains(name));
      CHECK(left.at(name) == lines);
    }
    CHECK(left.size() == expected.size());
  }
}

TEST_CASE("Functions of other files that nothing names go, too", "[finalize]") {
  const auto whole = Module::Load(MercuryGolden("first.cubin"));
  REQUIRE(whole.ok());
  const auto has_far = [](const Module& module) {
    const ModuleView& view = module.sass();
    for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
      if (view.SymbolAt(i).name == "_Z3fari") return true;
    }
    return false;
  };
  CHECK(has_far(**whole));
  const auto bytes = WithoutFunctions(**whole, (*whole)->bytes(), Names({".text._Z3SumPii"}));
  REQUIRE(bytes.has_value());
  const auto reduced = Module::Load(*bytes);
  INFO(reduced.status().message());
  REQUIRE(reduced.ok());
  CHECK_FALSE(has_far(**reduced));
}

TEST_CASE("What is needed is not taken out", "[finalize]") {
  const auto first = Module::Load(MercuryGolden("first.cubin"));
  REQUIRE(first.ok());
  // The kernel Sum calls it.
  CHECK_FALSE(WithoutFunctions(**first, (*first)->bytes(), Names({".text._Z4Jumpi"})).has_value());
  CHECK_FALSE(WithoutFunctions(**first, (*first)->bytes(), Names({})).has_value());
  CHECK_FALSE(WithoutFunctions(**first, (*first)->bytes(), Names({".nv.info"})).has_value());
  // A variable points to it.
  const auto second = Module::Load(MercuryGolden("second.cubin"));
  REQUIRE(second.ok());
  CHECK_FALSE(
      WithoutFunctions(**second, (*second)->bytes(), Names({".text._Z5Takeni"})).has_value());
}

TEST_CASE("A file that is cut short is not read beyond its end", "[finalize][damage]") {
  const auto module = Module::Load(MercuryGolden("first.cubin"));
  REQUIRE(module.ok());
  const base::Bytes whole = (*module)->bytes();
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    (void)WithoutFunctions(**module, whole.first(size), Names({kUnused, kDynamic}));
  }
}

// The golden file with another header.
template <typename T>
Cubin With(std::uint64_t offset, const T& value) {
  Cubin out = MercuryGolden("first.cubin");
  base::PutValue(out, offset, value);
  return out;
}

TEST_CASE("Memory without bytes takes none, however it is to be aligned", "[finalize][damage]") {
  const auto module = Module::Load(MercuryGolden("first.cubin"));
  REQUIRE(module.ok());
  const std::uint64_t headers = (*module)->header().shoff;
  std::vector<InputSection> sections = (*module)->sass().sections();
  const auto memory = std::ranges::find_if(sections, [](const InputSection& section) {
    return section.role == SectionRole::kKernelShared || section.role == SectionRole::kGlobal;
  });
  REQUIRE(memory != sections.end());
  const auto number = static_cast<std::uint64_t>(memory - sections.begin());
  const Cubin odd =
      With(headers + number * sizeof(format::Shdr) + offsetof(format::Shdr, addralign),
           std::uint64_t{1} << 30);
  const auto bytes = WithoutFunctions(**module, odd, Names({kUnused, kDynamic}));
  REQUIRE(bytes.has_value());
  CHECK(bytes->size() <= odd.size());
}

TEST_CASE("Names that are said to be elsewhere are not looked for", "[finalize][damage]") {
  const auto module = Module::Load(MercuryGolden("first.cubin"));
  REQUIRE(module.ok());
  for (const std::uint32_t names : {format::kShnXindex, std::uint32_t{0xfff0}}) {
    const Cubin odd = With(offsetof(format::Ehdr, shstrndx), static_cast<std::uint16_t>(names));
    CHECK_FALSE(WithoutFunctions(**module, odd, Names({kUnused, kDynamic})).has_value());
  }
}

}  // namespace
}  // namespace devlink::testing
