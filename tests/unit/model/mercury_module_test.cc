// SPDX-License-Identifier: Apache-2.0
//
// Cubins with two views. The files are ptxas's (tests/golden/mercury).
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounded_reader.h"
#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "format/views.h"
#include "model/module.h"
#include "support/catch.h"
#include "support/mercury_golden.h"
#include "support/process.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

using format::ViewKind;
using internal::InputSection;
using internal::InputSymbol;
using internal::Module;
using internal::ModuleView;
using internal::SectionRole;

// The only section of that name in a view.
std::optional<std::uint32_t> Find(const ModuleView& view, std::string_view name) {
  std::optional<std::uint32_t> found;
  const std::vector<InputSection> sections = view.sections();
  for (std::uint32_t i = 0; i < sections.size(); ++i) {
    if (sections[i].name != name) continue;
    REQUIRE_FALSE(found.has_value());
    found = i;
  }
  return found;
}

bool Loads(Cubin bytes) {
  bytes.shrink_to_fit();  // so that a sanitizer sees a read past the end
  const auto module = Module::Load(std::move(bytes));
  if (module.ok()) return true;
  CHECK(module.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK_FALSE(module.status().message().empty());
  return false;
}

// The section headers of a file, to be changed in place.
class Headers {
 public:
  explicit Headers(Cubin& bytes) : bytes_(bytes) {
    std::memcpy(&header_, bytes.data(), sizeof(header_));
  }
  [[nodiscard]] std::uint32_t count() const { return header_.shnum; }
  [[nodiscard]] format::Shdr Get(std::uint32_t index) const {
    format::Shdr out = {};
    std::memcpy(&out, bytes_.data() + header_.shoff + index * sizeof(out), sizeof(out));
    return out;
  }
  void Set(std::uint32_t index, const format::Shdr& to) {
    std::memcpy(bytes_.data() + header_.shoff + index * sizeof(to), &to, sizeof(to));
  }

 private:
  Cubin& bytes_;
  format::Ehdr header_ = {};
};

TEST_CASE("A cubin for sm_100 has two views in the same words", "[model][mercury]") {
  const auto module = Module::Load(MercuryGolden("first.cubin"));
  REQUIRE(module.ok());
  CHECK((*module)->sm() == 100);
  REQUIRE((*module)->HasView(ViewKind::kMercury));
  const ModuleView& sass = (*module)->sass();
  const ModuleView& mercury = (*module)->view(ViewKind::kMercury);
  CHECK(&(*module)->view(ViewKind::kSass) == &sass);
  CHECK(mercury.kind() == ViewKind::kMercury);
  REQUIRE(mercury.section_count() == sass.section_count());

  // The symbols are the same up to those of sections that only machine code has.
  REQUIRE(mercury.symbol_count() < sass.symbol_count());
  for (std::uint32_t i = 0; i < mercury.symbol_count(); ++i) {
    const InputSymbol ours = mercury.SymbolAt(i);
    if (ours.type != format::kSttSection) CHECK(ours.name == sass.SymbolAt(i).name);
    CHECK(ours.type == sass.SymbolAt(i).type);
  }

  const std::vector<InputSection> sections = mercury.sections();
  const auto capsule = Find(mercury, ".text._Z3SumPii");
  const auto code = Find(sass, ".text._Z3SumPii");
  REQUIRE((capsule && code));
  CHECK(*capsule != *code);
  CHECK(sections[*capsule].role == SectionRole::kText);
  CHECK(sections[*capsule].flags == (format::kShfAlloc | format::kShfExec));
  CHECK(sections[*code].role == SectionRole::kOtherView);
  CHECK(sass.sections()[*capsule].role == SectionRole::kOtherView);

  // Both views have the shared memory of a kernel, which belongs to the code of each.
  const auto shared = Find(mercury, ".nv.shared._Z3SumPii");
  REQUIRE((shared && shared == Find(sass, ".nv.shared._Z3SumPii")));
  CHECK(sections[*shared].info == *capsule);
  CHECK(sass.sections()[*shared].info == *code);

  const auto user = Find(mercury, ".nv.constant.user");
  const auto optimizer = Find(mercury, ".nv.constant.optimizer._Z4Jumpi");
  REQUIRE((user && optimizer));
  CHECK(sections[*user].role == SectionRole::kConstantBank);
  CHECK(sections[*user].type == format::kShtCudaConstant0 + 3);
  CHECK(sections[*optimizer].role == SectionRole::kFunctionConstants);
  CHECK(sections[*optimizer].type == format::kShtCudaConstant0 + 2);
  const auto info = Find(mercury, ".nv.info._Z4Jumpi");
  REQUIRE(info);
  CHECK(sections[*info].role == SectionRole::kFunctionInfo);
  CHECK_FALSE(Find(mercury, ".nv.constant0._Z3SumPii"));
}

TEST_CASE("Relocations of each view are of its own types", "[model][mercury]") {
  for (const char* name : {"first.cubin", "second.cubin"}) {
    const auto module = Module::Load(MercuryGolden(name));
    REQUIRE(module.ok());
    for (const ViewKind kind : {ViewKind::kSass, ViewKind::kMercury}) {
      std::size_t count = 0;
      for (const InputSection& section : (*module)->view(kind).sections()) {
        if (section.role != SectionRole::kRelocations) continue;
        const base::BoundedReader entries(section.data);
        for (std::uint64_t at = 0; at < section.size; at += sizeof(format::Rela), ++count) {
          const auto entry = entries.ReadOrZero<format::Rela>(at);
          CHECK(format::IsMercuryRelocation(entry.type) == (kind == ViewKind::kMercury));
        }
      }
      CHECK(count > 10);
    }
  }
}

TEST_CASE("Sections of the Mercury view are unknown before sm_100", "[model][mercury]") {
  Cubin bytes = MercuryGolden("second.cubin");
  REQUIRE(Loads(bytes));
  bytes[offsetof(format::Ehdr, flags) + 1] = 90;
  CHECK_FALSE(Loads(bytes));
}

TEST_CASE("Damage to the Mercury view is found when the module is read", "[model][mercury]") {
  const Cubin whole = MercuryGolden("first.cubin");
  const auto module = Module::Load(whole);
  REQUIRE(module.ok());
  const ModuleView& view = (*module)->view(ViewKind::kMercury);
  const auto refuses = [&](std::string_view section, auto change) {
    Cubin bytes = whole;
    Headers headers(bytes);
    const auto index = Find(view, section);
    REQUIRE(index);
    format::Shdr header = headers.Get(*index);
    change(header);
    headers.Set(*index, header);
    INFO(section);
    CHECK_FALSE(Loads(bytes));
  };
  const std::uint32_t machine_code = *Find((*module)->sass(), ".text._Z3SumPii");
  const auto owner = [](std::uint32_t index) {
    return [index](format::Shdr& header) { header.info = index; };
  };
  // A function's symbol, or its capsule; never the machine code.
  refuses(".text._Z3SumPii", owner(view.symbol_count()));
  refuses(".text._Z3SumPii", owner(1));
  refuses(".nv.info._Z3SumPii", owner(machine_code));
  refuses(".rela.text._Z3SumPii", owner(machine_code));
  refuses(".nv.constant.optimizer._Z4Jumpi", owner(machine_code));
  refuses(".nv.shared._Z3SumPii", owner(view.section_count()));
  refuses(".symtab", [](format::Shdr& header) { header.link = 0xffffff; });
  refuses(".symtab", [](format::Shdr& header) { header.size -= 1; });
  refuses(".symtab", [](format::Shdr& header) { header.type = 0x700000ff; });
  // Relocations count in bytes of the unpacked code.
  Cubin bytes = whole;
  const InputSection relocations = view.sections()[*Find(view, ".rela.text._Z3SumPii")];
  const auto at = static_cast<std::size_t>(relocations.data.data() - (*module)->bytes().data());
  const std::uint64_t beyond = std::uint64_t{1} << 20;
  std::memcpy(bytes.data() + at, &beyond, sizeof(beyond));
  CHECK_FALSE(Loads(bytes));
}

TEST_CASE("Name and number of a section lead to one function", "[model][mercury]") {
  const Cubin whole = MercuryGolden("first.cubin");
  const auto module = Module::Load(whole);
  REQUIRE(module.ok());
  for (const ViewKind kind : {ViewKind::kSass, ViewKind::kMercury}) {
    const ModuleView& view = (*module)->view(kind);
    const auto other = Find(view, ".text._Z7DynamicPii");
    REQUIRE(other);
    int owned = 0;
    for (const std::string_view name :
         {".nv.info._Z3SumPii", ".nv.constant0._Z3SumPii", ".nv.constant2._Z4Jumpi",
          ".nv.shared._Z3SumPii", ".nv.constant.optimizer._Z4Jumpi"}) {
      const auto index = Find(view, name);
      if (!index) continue;
      Cubin bytes = whole;
      Headers headers(bytes);
      format::Shdr header = headers.Get(*index);
      header.info = *other;
      headers.Set(*index, header);
      CAPTURE(name, kind == ViewKind::kSass);
      CHECK_FALSE(Loads(bytes));
      ++owned;
    }
    CHECK(owned >= 2);
  }
}

TEST_CASE("A capsule is that of its machine code", "[model][mercury]") {
  const Cubin whole = MercuryGolden("first.cubin");
  const auto module = Module::Load(whole);
  REQUIRE(module.ok());
  const ModuleView& view = (*module)->view(ViewKind::kMercury);
  const auto capsule = Find(view, ".text._Z3SumPii");
  const auto other = Find((*module)->sass(), ".text._Z7DynamicPii");
  REQUIRE((capsule && other));
  const InputSection section = view.sections()[*capsule];
  const auto at = static_cast<std::size_t>(section.data.data() - (*module)->bytes().data());
  const auto with = [&](std::size_t place, std::uint32_t word) {
    Cubin bytes = whole;
    std::memcpy(bytes.data() + at + place, &word, sizeof(word));
    return bytes;
  };
  for (const std::uint32_t owner : {0U, *other, *capsule, view.section_count(), 0xffffffffU}) {
    CAPTURE(owner);
    CHECK_FALSE(Loads(with(0, owner)));
  }
  for (const std::uint32_t count : {0U, 1U, 1000U, 0xffffffffU}) {
    CAPTURE(count);
    CHECK_FALSE(Loads(with(8, count)));
  }
  Cubin bytes = whole;
  Headers headers(bytes);
  format::Shdr header = headers.Get(*capsule);
  header.offset -= 16;
  headers.Set(*capsule, header);
  CHECK_FALSE(Loads(bytes));
}

TEST_CASE("No section passes for debug information or for one of the other view",
          "[model][mercury]") {
  for (const std::string_view file : {"first.cubin", "second.cubin"}) {
    const Cubin whole = MercuryGolden(file);
    const auto module = Module::Load(whole);
    REQUIRE(module.ok());
    Cubin bytes = whole;
    Headers headers(bytes);
    std::uint32_t looked_at = 0;
    for (std::uint32_t i = 1; i < headers.count(); ++i) {
      const format::Shdr header = headers.Get(i);
      std::string name;
      for (const ViewKind kind : {ViewKind::kSass, ViewKind::kMercury}) {
        const InputSection section = (*module)->view(kind).sections()[i];
        if (section.role != SectionRole::kOtherView) name = section.name;
      }
      if (name.find("debug") != std::string::npos) continue;
      ++looked_at;
      INFO(file << " " << i << " " << name);
      format::Shdr disguised = header;
      disguised.type = format::kShtProgbits;
      disguised.flags = 0;
      headers.Set(i, disguised);
      CHECK_FALSE(Loads(bytes));
      disguised = header;
      disguised.flags ^= format::kShfMercury;
      headers.Set(i, disguised);
      CHECK_FALSE(Loads(bytes));
      headers.Set(i, header);
    }
    CHECK(looked_at > 20);
    CHECK(Loads(bytes));
  }
}

TEST_CASE("Both views say the same of a symbol", "[model][mercury]") {
  const Cubin whole = MercuryGolden("first.cubin");
  const auto module = Module::Load(whole);
  REQUIRE(module.ok());
  const ModuleView& view = (*module)->view(ViewKind::kMercury);
  const InputSection table = view.sections()[*Find(view, ".symtab")];
  const auto begin = static_cast<std::size_t>(table.data.data() - (*module)->bytes().data());
  int changed = 0;
  for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
    if (view.SymbolAt(i).type == format::kSttSection) continue;
    format::Sym symbol = {};
    const std::size_t at = begin + i * sizeof(symbol);
    std::memcpy(&symbol, whole.data() + at, sizeof(symbol));
    const auto refused = [&](auto change) {
      format::Sym other = symbol;
      change(other);
      Cubin bytes = whole;
      std::memcpy(bytes.data() + at, &other, sizeof(other));
      INFO("symbol " << i);
      const bool loads = Loads(std::move(bytes));
      CHECK_FALSE(loads);
    };
    // The end of its name, another binding, another visibility.
    refused([](format::Sym& other) { ++other.name; });
    refused([](format::Sym& other) { other.info ^= 0x30; });
    refused([](format::Sym& other) { other.other ^= 1; });
    ++changed;
  }
  CHECK(changed > 5);
}

TEST_CASE("Variables are the same in both views", "[model][mercury]") {
  int changed = 0;
  for (const char* const file : {"first.cubin", "second.cubin"}) {
    const Cubin whole = MercuryGolden(file);
    const auto module = Module::Load(whole);
    REQUIRE(module.ok());
    for (const ViewKind kind : {ViewKind::kSass, ViewKind::kMercury}) {
      const ModuleView& view = (*module)->view(kind);
      const InputSection symbols = view.sections()[*Find(view, ".symtab")];
      const auto table = static_cast<std::size_t>(symbols.data.data() - (*module)->bytes().data());
      for (std::uint32_t i = 1; i < view.symbol_count(); ++i) {
        const InputSymbol symbol = view.SymbolAt(i);
        if (symbol.type == format::kSttFunc || symbol.type == format::kSttSection) continue;
        Cubin bytes = whole;
        bytes[table + i * sizeof(format::Sym) + offsetof(format::Sym, size)] ^= 4;
        CAPTURE(file, symbol.name);
        const bool loads = Loads(std::move(bytes));
        CHECK_FALSE(loads);
        ++changed;
      }
    }
  }
  CHECK(changed > 20);
}

// Where the entries of relocations of a section lie in the file, of either view.
std::vector<std::size_t> RelocationsOf(const ModuleView& view, std::string_view section,
                                       const Module& module) {
  std::vector<std::size_t> out;
  const std::vector<InputSection> sections = view.sections();
  for (const InputSection& list : sections) {
    if (list.role != SectionRole::kRelocations || sections[list.info].name != section) continue;
    const auto begin = static_cast<std::size_t>(list.data.data() - module.bytes().data());
    for (std::size_t at = 0; at < list.size; at += sizeof(format::Rela)) out.push_back(begin + at);
  }
  return out;
}

TEST_CASE("Both views refer to the same", "[model][mercury]") {
  for (const char* const file : {"first.cubin", "second.cubin"}) {
    const Cubin whole = MercuryGolden(file);
    const auto module = Module::Load(whole);
    REQUIRE(module.ok());
    std::size_t changes = 0;
    for (const ViewKind kind : {ViewKind::kSass, ViewKind::kMercury}) {
      const ModuleView& view = (*module)->view(kind);
      for (const InputSection& section : view.sections()) {
        const bool is_data =
            section.role == SectionRole::kGlobalInit || section.role == SectionRole::kConstantBank;
        if (section.role != SectionRole::kText && !is_data) continue;
        for (const std::size_t at : RelocationsOf(view, section.name, **module)) {
          const auto refers_to = base::BoundedReader(whole).ReadOrZero<std::uint32_t>(
              at + offsetof(format::Rela, symbol));
          if (view.SymbolAt(refers_to).name.starts_with(".nv.reservedSmem.")) continue;
          CAPTURE(file, section.name, at);
          for (std::uint32_t symbol = 1; symbol < view.symbol_count(); ++symbol) {
            if (symbol == refers_to) continue;
            Cubin bytes = whole;
            std::memcpy(bytes.data() + at + offsetof(format::Rela, symbol), &symbol,
                        sizeof(symbol));
            const bool loads = Loads(std::move(bytes));
            CHECK_FALSE(loads);
            ++changes;
          }
          if (!is_data) continue;
          for (const std::size_t field :
               {offsetof(format::Rela, offset), offsetof(format::Rela, addend)}) {
            Cubin bytes = whole;
            bytes[at + field] ^= 8;
            const bool loads = Loads(std::move(bytes));
            CHECK_FALSE(loads);
          }
        }
      }
    }
    CHECK(changes > 100);
  }
}

TEST_CASE("A relocation that one of the views lacks is missed", "[model][mercury]") {
  Cubin whole = MercuryGolden("second.cubin");
  const std::uint32_t count = Headers(whole).count();
  int shorter = 0;
  for (std::uint32_t i = 1; i < count; ++i) {
    Cubin bytes = whole;
    Headers headers(bytes);
    format::Shdr header = headers.Get(i);
    const bool is_list = header.type == format::kShtRela || header.type == format::kShtMercuryRela;
    if (!is_list || header.size < sizeof(format::Rela)) continue;
    header.size -= sizeof(format::Rela);
    headers.Set(i, header);
    const auto module = Module::Load(bytes);
    // Debugging's are not the same in both views; that they are all there is said elsewhere.
    if (module.ok()) continue;
    CAPTURE(i);
    const std::string said(module.status().message());
    // What follows it may be as far away as before.
    CHECK((said.find("refer to the same") != std::string::npos ||
           said.find("bytes that belong to no section") != std::string::npos));
    ++shorter;
  }
  CHECK(shorter >= 5);
}

TEST_CASE("No section of a view lies on another one of it", "[model][mercury]") {
  const Cubin whole = MercuryGolden("first.cubin");
  const auto module = Module::Load(whole);
  REQUIRE(module.ok());
  int moved = 0;
  for (const ViewKind kind : {ViewKind::kSass, ViewKind::kMercury}) {
    const ModuleView& view = (*module)->view(kind);
    std::optional<std::uint32_t> last;
    for (std::uint32_t i = 1; i < view.section_count(); ++i) {
      if (view.RoleAt(i) == SectionRole::kOtherView || view.SectionAt(i).data.empty()) continue;
      if (last) {
        Cubin bytes = whole;
        Headers headers(bytes);
        format::Shdr header = headers.Get(i);
        header.offset = headers.Get(*last).offset;
        headers.Set(i, header);
        CAPTURE(i, *last);
        const bool loads = Loads(std::move(bytes));
        CHECK_FALSE(loads);
        ++moved;
      }
      last = i;
    }
  }
  CHECK(moved > 40);
}

TEST_CASE("No changed byte of a cubin with two views crashes the reader", "[model][mercury]") {
  const Cubin whole = MercuryGolden("second.cubin");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {0x01, 0xff}) {
      Cubin bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ change);
      Loads(std::move(bytes));
    }
  }
}

TEST_CASE("No extreme number in a section header crashes the reader", "[model][mercury]") {
  Cubin whole = MercuryGolden("first.cubin");
  const std::uint32_t count = Headers(whole).count();
  for (std::uint32_t index = 1; index < count; ++index) {
    for (const std::uint32_t value : {0U, 1U, 57U, 0xffffU, 0x7fffffffU, 0xffffffffU}) {
      for (std::uint32_t format::Shdr::* field :
           {&format::Shdr::type, &format::Shdr::link, &format::Shdr::info}) {
        Cubin bytes = whole;
        Headers headers(bytes);
        format::Shdr header = headers.Get(index);
        header.*field = value;
        headers.Set(index, header);
        Loads(std::move(bytes));
      }
      for (std::uint64_t format::Shdr::* field :
           {&format::Shdr::flags, &format::Shdr::offset, &format::Shdr::size}) {
        Cubin bytes = whole;
        Headers headers(bytes);
        format::Shdr header = headers.Get(index);
        header.*field = value;
        headers.Set(index, header);
        Loads(std::move(bytes));
      }
    }
  }
}

}  // namespace
}  // namespace devlink::testing
