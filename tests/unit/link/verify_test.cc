// SPDX-License-Identifier: Apache-2.0
#include "link/verify.h"

#include <functional>

#include "format/nv_info.h"
#include "support/catch.h"
#include "unit/link/linked.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

using Function = InputBuilder::Function;
using Variable = InputBuilder::Variable;

// The results of a sound link, for a test to break one of them.
struct Results : internal::PassResults {
  internal::SectionId Section(std::string_view name) const {
    for (internal::SectionId id = 0; id < program.sections.size(); ++id) {
      if (program.sections[id].name == name) return id;
    }
    FAIL("no section " << name);
    return internal::kNone;
  }
  internal::SymbolId Symbol(std::string_view name) const {
    for (internal::SymbolId id = 0; id < program.symbols.size(); ++id) {
      if (program.symbols[id].name == name) return id;
    }
    FAIL("no symbol " << name);
    return internal::kNone;
  }
};

// Two kernels that call `f`: shared variables, constants, and relocations of both kinds.
struct SoundLink {
  SoundLink() {
    const SymbolHandle k = input.DefineKernel("k");
    const SymbolHandle l = input.DefineKernel("l");
    const SymbolHandle f = input.Define(Function{.name = "f"});
    const SymbolHandle x =
        input.Define(Variable{.name = "x", .section = input.AddData(".nv.global.init", 8)});
    input.AddCall(k, f);
    input.AddCall(l, f);
    input.AddConstants(k, 8);
    input.AddConstants(f, 8);
    const SectionHandle own = input.AddData(".nv.shared.k", 0, k);
    const SectionHandle files = input.AddData(".nv_debug.shared", 0);
    const SymbolHandle s = input.Define(Shared("s", own, 24));
    const SymbolHandle t = input.Define(Shared("t", files, 8));
    input.Relocate(input.TextOf(k), 0, kAbs32Lo, f);
    input.Relocate(input.TextOf(k), 4, kAbs32, s, 0);
    input.Relocate(input.TextOf(f), 0, kAbs32, t, 0);
    input.Relocate(input.TextOf(f), 8, kAbs32Lo, x);
  }
  static Variable Shared(const std::string& name, SectionHandle section, std::uint64_t size) {
    return {
        .name = name, .section = section, .space = format::kStoShared, .size = size, .value = 8};
  }
  InputBuilder input;
};

// The finding of a verification of a link that `breaking` has changed.
std::string Finding(const std::function<void(Results&)>& breaking, bool expensive = false) {
  constexpr std::uint64_t kReserved = 0x400;
  SoundLink sound;
  const Linked linked({&sound.input}, {.reserved = kReserved});
  Results results{linked.passes};
  breaking(results);
  const absl::Status status =
      internal::VerifyResults(results, {.reserved = kReserved, .expensive = expensive});
  if (status.ok()) return "";
  CHECK(status.code() == absl::StatusCode::kInternal);
  return std::string(status.message().data(), status.message().size());
}

TEST_CASE("A sound link passes, both halves of it", "[verify]") {
  CHECK(Finding([](Results&) {}) == "");
  CHECK(Finding([](Results&) {}, true) == "");
}

TEST_CASE("Each pass must have answered for everything", "[verify]") {
  CHECK(Finding([](Results& r) { r.liveness.live.pop_back(); }) ==
        "functions of liveness: 2 in place of 3");
  CHECK(Finding([](Results& r) { r.shared.kernels.emplace_back(); }) ==
        "kernels of shared memory: 3 in place of 2");
  CHECK(Finding([](Results& r) { r.resources.kernels.clear(); }) ==
        "kernels of resources: 0 in place of 2");
  CHECK(Finding([](Results& r) { r.attributes.functions.clear(); }) ==
        "functions of attributes: 0 in place of 3");
}

TEST_CASE("Pieces of a section lie in it, one behind the other", "[verify]") {
  CHECK(Finding([](Results& r) { r.program.sections[r.Section(".text.k")].size = 8; }) ==
        "section '.text.k': its pieces end at 0x10, the section at 0x8");
  CHECK(Finding([](Results& r) {
          auto& section = r.program.sections[r.Section(".text.k")];
          section.size = 0x40;
          section.pieces.push_back({section.pieces[0].bytes, 8});
        }) == "section '.text.k': a piece begins at 0x8, the one before it ends at 0x10");
}

TEST_CASE("Alignments are powers of two", "[verify]") {
  CHECK(Finding([](Results& r) { r.program.sections[r.Section(".text.k")].align = 12; }) ==
        "section '.text.k': it is aligned to 0xc, which is not a power of two up to 0x80000000");
}

TEST_CASE("What a section belongs to exists", "[verify]") {
  CHECK(Finding([](Results& r) { r.program.sections[r.Section(".nv.shared.k")].function = 9; }) ==
        "section '.nv.shared.k': it belongs to function 0x9, of a number of 0x3");
}

TEST_CASE("Variables lie in their sections", "[verify]") {
  CHECK(Finding([](Results& r) { r.program.symbols[r.Symbol("x")].value = 5; }) ==
        "symbol 'x': it ends at 0x9, section '.nv.global.init' at 0x8");
}

TEST_CASE("Shared variables are aligned and lie in the memory of their kernel", "[verify]") {
  CHECK(Finding([](Results& r) { r.shared.places.at(r.Symbol("s")).offset = 12; }) ==
        "symbol 's': it lies at 0xc, and is aligned to 0x8");
  CHECK(Finding([](Results& r) { r.shared.places.at(r.Symbol("s")).offset = 16; }) ==
        "symbol 's': it ends at 0x428, section '.nv.shared.k' at 0x420");
}

TEST_CASE("Every section's name is entered", "[verify]") {
  const auto without = [](Results& r) {
    const auto id = r.Section(".text.f");
    std::erase_if(r.program.section_names,
                  [id](const internal::NameEntry& name) { return name.section == id; });
  };
  const std::string found = Finding(without);
  CHECK(found.starts_with("section '.text.f': its name is not entered"));
}

TEST_CASE("No name is that of what does not exist", "[verify]") {
  CHECK(Finding([](Results& r) {
          r.program.symbol_names.push_back({.text = "gone", .symbol = 1000});
        }).starts_with("name 'gone': it is that of symbol 0x3e8, of a number of"));
}

TEST_CASE("A kernel has its code and its sections", "[verify]") {
  CHECK(Finding([](Results& r) {
          r.liveness.section_removed[r.Section(".text.k")] = true;
        }).starts_with("kernel 'k': it stays, but its code does not: section"));
  CHECK(Finding([](Results& r) {
          r.program.functions[r.liveness.kernels[0]].shared = r.Section(".nv.shared.l");
        }) == "kernel 'k': section '.nv.shared.l' belongs to function 0x1, not to 0x0");
}

TEST_CASE("Fields lie in the section that they are stored into", "[verify]") {
  CHECK(Finding([](Results& r) { r.relocated.patches[0].offset = 13; }) ==
        "section '.text.f': a field ends at 0x11, the section at 0x10");
}

TEST_CASE("Relocations that are kept apply to what is there", "[verify]") {
  CHECK(Finding([](Results& r) { r.relocated.kept[0].offset = 16; }) ==
        "section '.rel.text.f': a relocation applies to 0x10, section '.text.f' ends at 0x10");
  CHECK(Finding([](Results& r) { r.relocated.kept.pop_back(); }) ==
        "relocations kept: 1 in place of 2");
  CHECK(Finding([](Results& r) {
          r.relocated.kept[0].symbol = r.Symbol("s");
        }).starts_with("section '.rel.text.f': the output does not have the symbol 's' of"));
}

TEST_CASE("Constants of a bank lie in it", "[verify]") {
  CHECK(Finding([](Results& r) {
          r.constants.banks[0].size = 12;
        }).ends_with("its pieces end at 0x10, the section at 0xc"));
}

TEST_CASE("No two variables of a kernel overlap", "[verify]") {
  const auto breaking = [](Results& r) { r.shared.places.at(r.Symbol("t")).offset = 16; };
  CHECK(Finding(breaking) == "");  // the first half does not ask who uses them
  CHECK(Finding(breaking, true) == "kernel 'k': 's' ends at 0x20, 't' begins at 0x10");
}

TEST_CASE("Variables of files lie in the memory of each kernel that reaches them", "[verify]") {
  const auto breaking = [](Results& r) { r.shared.places.at(r.Symbol("t")).offset = 64; };
  CHECK(Finding(breaking, true) == "kernel 'k': 't' ends at 0x48, its memory at 0x20");
}

TEST_CASE("Constants of a function lie in the bank of each kernel that reaches it", "[verify]") {
  const auto breaking = [](Results& r) { r.constants.moved.at(r.Section(".nv.constant2.f")) = 64; };
  CHECK(Finding(breaking, true) ==
        "kernel 'k': '.nv.constant2.f' ends at 0x48, its memory at 0x10");
}

TEST_CASE("A relocatable link is verified as far as it is laid out", "[verify]") {
  SoundLink sound;
  LinkedPartial linked(sound.input);
  internal::PassResults& results = linked.passes;
  const auto passes = [&results] {
    return internal::VerifyResults(results, {.partial = true}).ok();
  };
  CHECK(passes());
  ++results.relocated.kept_in_list[0];
  CHECK(!passes());
  --results.relocated.kept_in_list[0];
  results.shared.partial.sections.clear();
  CHECK(!passes());
}

}  // namespace
}  // namespace devlink::testing
