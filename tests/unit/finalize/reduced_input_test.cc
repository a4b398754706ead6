// SPDX-License-Identifier: Apache-2.0
//
// The inputs are ptxas's (tests/golden/mercury); of their code the link drops the function Unused.
#include "finalize/reduced_input.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink/experimental/mercury_finalizer.h"
#include "devlink/link_session.h"
#include "devlink/sinks.h"
#include "devlink/toolchain.h"
#include "format/elf_cuda.h"
#include "format/line_table.h"
#include "format/views.h"
#include "support/catch.h"
#include "support/mercury_golden.h"
#include "support/process.h"
#include "support/text.h"
#include "support/toolkit.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

using format::ViewKind;
using internal::CodeAlone;
using internal::CodeNames;
using internal::HasCode;
using internal::HasPlainLines;
using internal::InputSection;
using internal::KeepTraces;
using internal::Module;
using internal::SectionRole;
using internal::WithoutCode;

using golden_code::kUnused;

CodeNames OneName(std::string_view name) {
  CodeNames out;
  out.insert(name);
  return out;
}

// Of the code of one function, or a record about it.
bool Concerns(const std::vector<InputSection>& sections, const InputSection& section,
              std::string_view code) {
  if (section.role == SectionRole::kText) return section.name == code;
  const bool follows =
      section.role == SectionRole::kRelocations || section.role == SectionRole::kFunctionInfo;
  return follows && section.info < sections.size() && sections[section.info].name == code;
}

// As the file says it. A list of relocations may be empty here, which no input's is.
format::Shdr HeaderAt(const Cubin& file, std::uint32_t section) {
  const base::BoundedReader reader(file);
  const auto header = reader.ReadOrZero<format::Ehdr>(0);
  return reader.ReadOrZero<format::Shdr>(header.shoff + section * sizeof(format::Shdr));
}

base::Bytes BytesAt(const Cubin& file, std::uint32_t section) {
  const format::Shdr header = HeaderAt(file, section);
  const auto bytes = base::BoundedReader(file).Slice(header.offset, header.size);
  REQUIRE(bytes.has_value());
  return *bytes;
}

// Symbols of code that goes are not larger than what is left of it. Returns how many these are.
int Shorten(const std::vector<InputSection>& sections, std::string_view code, Cubin& symbols) {
  int out = 0;
  for (std::size_t at = 0; at < symbols.size(); at += sizeof(format::Sym)) {
    auto symbol = base::BoundedReader(symbols).ReadOrZero<format::Sym>(at);
    if (symbol.shndx >= sections.size() || symbol.size == 0) continue;
    if (sections[symbol.shndx].name != code) continue;
    symbol.size = 16;
    std::memcpy(symbols.data() + at, &symbol, sizeof(symbol));
    ++out;
  }
  return out;
}

TEST_CASE("An input without a function's code is as it was in all else", "[finalize]") {
  const Cubin whole = MercuryGolden("first.cubin");
  const auto module = Module::Load(whole);
  REQUIRE(module.ok());
  const auto reduced = WithoutCode(**module, OneName(kUnused));
  REQUIRE(reduced.has_value());
  CHECK(reduced->size() < whole.size());
  int shorter = 0;
  for (const ViewKind kind : {ViewKind::kSass, ViewKind::kMercury}) {
    const std::vector<InputSection> sections = (*module)->view(kind).sections();
    int changed = 0;
    for (std::uint32_t i = 1; i < sections.size(); ++i) {
      if (sections[i].role == SectionRole::kOtherView) continue;
      format::Shdr before = HeaderAt(whole, i);
      const format::Shdr after = HeaderAt(*reduced, i);
      if (Concerns(sections, sections[i], kUnused)) {
        ++changed;
        const bool is_code = sections[i].role == SectionRole::kText;
        CHECK(after.size == (is_code ? 16 : 0));
        // A capsule begins with the number of its machine code's section.
        if (is_code && kind == ViewKind::kMercury) {
          CHECK(std::ranges::equal(sections[i].data.first(4), BytesAt(*reduced, i).first(4)));
        }
        before.size = after.size;
      } else if (!sections[i].data.empty()) {
        Cubin expected(sections[i].data.begin(), sections[i].data.end());
        if (sections[i].entry_size == sizeof(format::Sym)) {
          shorter += Shorten(sections, kUnused, expected);
        }
        CHECK(std::ranges::equal(expected, BytesAt(*reduced, i)));
        CHECK(after.offset % std::max<std::uint64_t>(after.addralign, 1) == 0);
      }
      before.offset = after.offset;
      CHECK(std::memcmp(&before, &after, sizeof(before)) == 0);
    }
    CHECK(changed == 3);  // code, attributes and relocations
  }
  CHECK(shorter == 2);
}

// The golden file with one more, empty, table of the Mercury view's symbols, at `offset`.
Cubin WithSecondTable(const Cubin& whole, const format::Shdr& table, std::uint64_t offset) {
  auto header = base::BoundedReader(whole).ReadOrZero<format::Ehdr>(0);
  format::Shdr second = table;
  second.offset = offset;
  second.size = 0;
  Cubin out = whole;
  const auto end = static_cast<std::ptrdiff_t>(header.shoff + header.shnum * sizeof(second));
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&second);
  out.insert(out.begin() + end, bytes, bytes + sizeof(second));
  ++header.shnum;
  std::memcpy(out.data(), &header, sizeof(header));
  return out;
}

TEST_CASE("A second table of symbols is not the view's", "[finalize][damage]") {
  const Cubin whole = MercuryGolden("first.cubin");
  const auto module = Module::Load(whole);
  REQUIRE(module.ok());
  const devlink::internal::ModuleView& view = (*module)->view(ViewKind::kMercury);
  const std::vector<InputSection> sections = view.sections();
  const auto find = [&](auto&& is_it) {
    const auto found = std::ranges::find_if(sections, is_it);
    REQUIRE(found != sections.end());
    return static_cast<std::uint32_t>(found - sections.begin());
  };
  const std::uint32_t table = find([](const InputSection& section) {
    return section.role == SectionRole::kTable && section.entry_size == sizeof(format::Sym);
  });
  const std::uint32_t kept = find([](const InputSection& section) {
    return section.role == SectionRole::kText && section.name != kUnused;
  });
  // Where the size of that function's symbol would be, if the table had any, is other code.
  std::uint64_t symbol = 0;
  for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
    const auto candidate = view.SymbolAt(i);
    if (candidate.section >= sections.size() || candidate.size <= 16) continue;
    if (sections[candidate.section].name == kUnused) symbol = i;
  }
  REQUIRE(symbol != 0);
  const std::uint64_t size_within = symbol * sizeof(format::Sym) + offsetof(format::Sym, size);
  const std::uint64_t code = HeaderAt(whole, kept).offset;
  REQUIRE(code + 8 > size_within);
  const Cubin odd = WithSecondTable(whole, HeaderAt(whole, table), code + 8 - size_within);
  const auto odd_module = Module::Load(odd);
  INFO(odd_module.status().message());
  REQUIRE(odd_module.ok());
  const auto reduced = CodeAlone(**odd_module, OneName(kUnused), {});
  REQUIRE(reduced.has_value());
  CHECK(std::ranges::equal(BytesAt(*reduced, kept), BytesAt(whole, kept)));
}

TEST_CASE("For code alone one reference to each shared variable stays", "[finalize]") {
  const Cubin whole = MercuryGolden("first.cubin");
  const auto module = Module::Load(whole);
  REQUIRE(module.ok());
  const auto alone = CodeAlone(**module, OneName(golden_code::kSum), {});
  REQUIRE(alone.has_value());
  const auto kept = WithoutCode(**module, OneName(golden_code::kSum));
  REQUIRE(kept.has_value());
  for (const ViewKind kind : {ViewKind::kSass, ViewKind::kMercury}) {
    const devlink::internal::ModuleView& view = (*module)->view(kind);
    const std::vector<InputSection> sections = view.sections();
    for (std::uint32_t i = 1; i < sections.size(); ++i) {
      if (sections[i].role != SectionRole::kRelocations) continue;
      if (sections[sections[i].info].name != golden_code::kSum) continue;
      CHECK(BytesAt(*kept, i).empty());
      const base::BoundedReader entries(BytesAt(*alone, i));
      REQUIRE(entries.size() > 0);
      CHECK(entries.size() < sections[i].size);
      for (std::uint64_t at = 0; at < entries.size(); at += sizeof(format::Rela)) {
        const auto entry = entries.ReadOrZero<format::Rela>(at);
        // In the instruction that stands for all.
        CHECK(entry.offset == (kind == ViewKind::kMercury ? 12 : 0));
        const std::uint8_t space = view.SymbolAt(entry.symbol).other & format::kStoSpaceMask;
        CHECK((space == format::kStoShared || space == format::kStoReservedShared));
      }
    }
  }
}

// Which symbols the lines of a view are of, in a file made of the module's.
std::vector<std::string> LinesOf(const Module& module, ViewKind kind, const Cubin& file) {
  const devlink::internal::ModuleView& view = module.view(kind);
  const std::vector<InputSection> sections = view.sections();
  std::vector<std::string> out;
  for (std::uint32_t i = 1; i < sections.size(); ++i) {
    if (sections[i].role != SectionRole::kRelocations) continue;
    const std::uint32_t table_section = sections[i].info;
    if (sections[table_section].name != ".debug_line") continue;
    const auto table = format::LineTable::Read(BytesAt(file, table_section));
    REQUIRE(table.has_value());
    REQUIRE(table->units().size() == 1);
    const base::BoundedReader entries(BytesAt(file, i));
    const auto sequences = table->SequencesOf(table->units()[0]);
    CHECK(entries.size() == sequences.size() * sizeof(format::Rela));
    for (const format::LineSequence& sequence : sequences) {
      for (std::uint64_t at = 0; at < entries.size(); at += sizeof(format::Rela)) {
        const auto entry = entries.ReadOrZero<format::Rela>(at);
        if (entry.offset != table->AddressesOf(sequence)[0]) continue;
        out.emplace_back(view.SymbolAt(entry.symbol).name);
      }
    }
  }
  std::ranges::sort(out);  // each view has an order of its own
  return out;
}

TEST_CASE("For code alone the other lines go, and the text of PTX", "[finalize][lines]") {
  const Cubin whole = MercuryGolden("lines.cubin");
  const auto module = Module::Load(whole);
  REQUIRE(module.ok());
  const auto alone = CodeAlone(**module, OneName(".text.first"), {});
  REQUIRE(alone.has_value());
  // Also where no code goes; where the finalizer's whole file is wanted, none of this.
  const auto text_only = CodeAlone(**module, CodeNames(), {});
  REQUIRE(text_only.has_value());
  const auto kept = WithoutCode(**module, OneName(".text.first"));
  REQUIRE(kept.has_value());
  const std::vector<std::string> all = {"first", "first_part", "second"};
  for (const ViewKind kind : {ViewKind::kSass, ViewKind::kMercury}) {
    CHECK(LinesOf(**module, kind, whole) == all);
    CHECK(LinesOf(**module, kind, *alone) == std::vector<std::string>{"first_part", "second"});
    CHECK(LinesOf(**module, kind, *text_only) == all);
    CHECK(LinesOf(**module, kind, *kept) == all);
    const std::vector<InputSection> sections = (*module)->view(kind).sections();
    for (std::uint32_t i = 1; i < sections.size(); ++i) {
      if (!sections[i].name.starts_with(".nv_debug_ptx_txt")) continue;
      CHECK(BytesAt(*alone, i).empty());
      CHECK(BytesAt(*text_only, i).empty());
      CHECK(BytesAt(*kept, i).size() == sections[i].size);
    }
  }
}

// Whether the lines are plain where a byte of a view's `.debug_line`, or of the list of its
// relocations, is another.
bool IsPlainWith(ViewKind kind, SectionRole role, std::uint64_t at, std::uint8_t value) {
  Cubin file = MercuryGolden("lines.cubin");
  {
    const auto module = Module::Load(file);
    REQUIRE(module.ok());
    const std::vector<InputSection> sections = (*module)->view(kind).sections();
    const auto section = std::ranges::find_if(sections, [&](const InputSection& candidate) {
      const std::uint32_t table = role == SectionRole::kRelocations ? candidate.info : 0;
      return candidate.role == role &&
             (table == 0 ? candidate : sections[table]).name == ".debug_line";
    });
    REQUIRE(section != sections.end());
    const auto begin = section->data.data() - (*module)->bytes().data();
    file[static_cast<std::size_t>(begin) + at] = value;
  }
  const auto module = Module::Load(file);
  INFO(module.status().message());
  REQUIRE(module.ok());
  return HasPlainLines(**module);
}

TEST_CASE("Lines that are plain are told from those that are not", "[finalize][lines][damage]") {
  for (const char* const file : {"first.cubin", "lines.cubin"}) {
    const auto module = Module::Load(MercuryGolden(file));
    REQUIRE(module.ok());
    CHECK(HasPlainLines(**module));
  }
  const Cubin whole = MercuryGolden("lines.cubin");
  const auto module = Module::Load(whole);
  REQUIRE(module.ok());
  for (const ViewKind kind : {ViewKind::kSass, ViewKind::kMercury}) {
    const std::vector<InputSection> sections = (*module)->view(kind).sections();
    const auto table = std::ranges::find_if(
        sections, [](const InputSection& section) { return section.name == ".debug_line"; });
    REQUIRE(table != sections.end());
    const auto lines = format::LineTable::Read(table->data);
    REQUIRE(lines.has_value());
    const auto sequences = lines->SequencesOf(lines->units()[0]);
    REQUIRE(sequences.size() == 3);
    const std::uint64_t address = lines->AddressesOf(sequences[1])[0];
    constexpr SectionRole kTable = SectionRole::kDebug;
    constexpr SectionRole kList = SectionRole::kRelocations;
    CHECK(IsPlainWith(kind, kTable, address - 1, 2));  // as it is
    // The address is none, and the end of the one before is none.
    CHECK_FALSE(IsPlainWith(kind, kTable, address - 1, 4));
    CHECK_FALSE(IsPlainWith(kind, kTable, sequences[0].end - 1, 3));
    // A relocation of another place.
    CHECK_FALSE(IsPlainWith(kind, kList, 0, static_cast<std::uint8_t>(address + 9)));
  }
}

TEST_CASE("An input that has none of the code is not copied", "[finalize]") {
  const auto module = Module::Load(MercuryGolden("second.cubin"));
  REQUIRE(module.ok());
  CHECK_FALSE(WithoutCode(**module, OneName(kUnused)).has_value());
  CHECK_FALSE(WithoutCode(**module, CodeNames()).has_value());
  CHECK_FALSE(CodeAlone(**module, OneName(kUnused), {}).has_value());
  // Nor is another kind of section taken for code.
  CHECK_FALSE(WithoutCode(**module, OneName(".nv.info")).has_value());
}

TEST_CASE("Code that leaves traces where it goes stays whole", "[finalize]") {
  const auto module = Module::Load(MercuryGolden("first.cubin"));
  REQUIRE(module.ok());
  CodeNames names = OneName(kUnused);
  const std::string_view weak = ".text._Z5TwiceIiET_S0_";
  const std::string_view uses_shared = ".text._Z3SumPii";
  for (const std::string_view name : {weak, uses_shared}) {
    names.insert(name);
    REQUIRE(WithoutCode(**module, OneName(name)).has_value());  // it is there
  }
  KeepTraces(**module, names);
  CHECK(names.size() == 1);
  CHECK(names.contains(kUnused));
}

TEST_CASE("Code that a linked cubin has is found there", "[finalize]") {
  LinkOptions options;
  options.target = *Arch::Parse("sm_100");
  options.finalize = FinalizeMode::kNever;
  auto session = LinkSession::Create(options);
  REQUIRE(session.ok());
  REQUIRE(session->AddCubin("first", MercuryGolden("first.cubin")).ok());
  REQUIRE(session->AddCubin("second", MercuryGolden("second.cubin")).ok());
  const LinkOutcome linked = session->Link();
  REQUIRE(linked.ok());
  CHECK_FALSE(HasCode(linked.cubin, OneName(kUnused)));
  CHECK(HasCode(linked.cubin, OneName(".text._Z3SumPii")));
  CHECK(HasCode(Cubin{1, 2, 3}, OneName(kUnused)));  // of what cannot be read, the worst is assumed
}

class Lines final : public LogSink {
 public:
  [[nodiscard]] bool Wants(LogLevel) const override { return true; }
  void Write(LogLevel, std::string_view line) override { lines_ += Cat(line, "\n"); }
  [[nodiscard]] bool Have(std::string_view text) const {
    return lines_.find(text) != std::string::npos;
  }

 private:
  std::string lines_;
};

TEST_CASE("The finalizer makes the same file of inputs without the code that goes", "[finalize]") {
  const auto toolkit = FindToolkit();
  if (!toolkit || toolkit->nvjitlink.empty()) DEVLINK_SKIP("no libnvJitLink");
  const TemporaryDirectory directory("devlink-finalize");
  const FinalizerOptions places = {.nvjitlink_path = toolkit->nvjitlink,
                                   .worker_path = DEVLINK_FINALIZER,
                                   .temporary_directory = directory.path().string()};
  const auto finalizer = CreateMercuryFinalizer(places);
  REQUIRE(finalizer.ok());
  const Cubin first = MercuryGolden("first.cubin");
  const Cubin second = MercuryGolden("second.cubin");
  const auto module = Module::Load(first);
  REQUIRE(module.ok());
  const auto reduced = WithoutCode(**module, OneName(kUnused));
  REQUIRE(reduced.has_value());
  FinalizeJob job{.target = *Arch::Parse("sm_100"),
                  .inputs = {{"first", first}, {"second", second}}};
  const auto whole = (*finalizer)->Finalize(job);
  REQUIRE(whole.ok());
  job.inputs[0].bytes = *reduced;
  const auto made = (*finalizer)->Finalize(job);
  REQUIRE(made.ok());
  CHECK(made->cubin == whole->cubin);

  // A link does it so.
  Lines lines;
  LinkOptions options;
  options.target = *Arch::Parse("sm_100");
  options.finalize = FinalizeMode::kAlways;
  auto session = LinkSession::Create(
      options, {.toolchain = std::make_shared<Toolchain>(ToolchainOptions{.finalizer = places}),
                .log = &lines});
  REQUIRE(session.ok());
  REQUIRE(session->AddCubin("first", first).ok());
  REQUIRE(session->AddCubin("second", second).ok());
  REQUIRE(session->Link().ok());
  CHECK(lines.Have("the finalizer did without 1 functions that go"));
}

}  // namespace
}  // namespace devlink::testing
