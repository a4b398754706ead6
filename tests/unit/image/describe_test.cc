// SPDX-License-Identifier: Apache-2.0
#include "image/describe.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "devlink-diff/cubin_view.h"
#include "format/nv_info.h"
#include "link/attributes.h"
#include "link/pass_results.h"
#include "link/relocate_partial.h"
#include "link/resources.h"
#include "link/shared_partial.h"
#include "model/module.h"
#include "support/catch.h"
#include "unit/link/linked.h"
#include "unit/relocation_numbers.h"

namespace devlink::testing {
namespace {

constexpr std::uint32_t kShtNobits = 8;
constexpr std::uint32_t kShtCudaGlobal = 0x70000007;
constexpr std::uint32_t kShtCudaShared = 0x7000000a;

using diff::CubinView;
using diff::ViewCubin;
using diff::ViewSection;
using diff::ViewSymbol;
using Variable = InputBuilder::Variable;

internal::ImageSettings Settings(bool relocatable = false) {
  return {.target = {.number = 80},
          .recorded_object = "the object",
          .recorded_options = "the options",
          .relocatable = relocatable};
}

// The bytes of an output, read again. What was described must not refer to what the passes found.
struct Output {
  explicit Output(internal::CubinDescription description) {
    auto written = description.writer.Write();
    REQUIRE(written.ok());
    bytes = *std::move(written);
    view = ViewCubin(bytes);
    CHECK(view.problems.empty());
  }
  [[nodiscard]] bool Has(std::string_view section) const { return view.Find(section) != nullptr; }
  [[nodiscard]] const ViewSection& At(std::string_view section) const {
    const ViewSection* found = view.Find(section);
    REQUIRE(found != nullptr);
    return *found;
  }
  [[nodiscard]] std::string Lines(std::string_view section) const {
    std::string out;
    for (const std::string& line : diff::DecodeSection(view, At(section))) out += line + "\n";
    return out;
  }
  [[nodiscard]] const ViewSymbol* Symbol(std::string_view name) const {
    const auto found = std::find_if(view.symbols.begin(), view.symbols.end(),
                                    [name](const ViewSymbol& s) { return s.key == name; });
    return found == view.symbols.end() ? nullptr : &*found;
  }
  // Whether a name stands in a string table.
  [[nodiscard]] bool HasName(std::string_view table, std::string_view name) const {
    const auto data = At(table).data;
    const std::string text(data.begin(), data.end());
    return text.find(std::string("\0", 1) + std::string(name) + std::string("\0", 1)) !=
           std::string::npos;
  }

  std::vector<std::uint8_t> bytes;
  CubinView view;
};

Output DescribeExecutable(std::initializer_list<InputBuilder*> inputs,
                          const LinkedOptions& options = {}) {
  Linked linked(inputs, options);
  return Output(internal::Describe(
      std::make_unique<internal::PassResults>(std::move(linked.passes)), Settings()));
}

Output DescribeRelocatable(std::initializer_list<InputBuilder*> inputs) {
  Merged merged = MergeInputs(inputs, {.sm = 80, .relocatable = true});
  internal::Program program = std::move(merged.result->program);
  internal::CallGraph graph(program);
  internal::Liveness live = internal::FindLiveFunctions(program, graph, true, {});
  internal::SharedLayout shared = internal::LayOutSharedPartial(program, live, {});
  internal::Resources resources = internal::OwnResources(program, live);
  internal::Attributes attributes = internal::KeepAttributes(program, graph, live);
  internal::Relocated relocated = internal::RelocatePartial(program, live, shared.partial, {});
  auto passes =
      std::make_unique<internal::PassResults>(internal::PassResults{std::move(program),
                                                                    std::move(graph),
                                                                    std::move(live),
                                                                    std::move(shared),
                                                                    {},
                                                                    {},
                                                                    std::move(resources),
                                                                    std::move(attributes),
                                                                    std::move(relocated)});
  passes->file = merged.file();
  return Output(internal::Describe(std::move(passes), Settings(true)));
}

// A kernel that calls a function of another file, an unused function, and variables of both kinds.
struct TwoFiles {
  TwoFiles() {
    const SymbolHandle k = a.DefineKernel("k");
    const SymbolHandle f = a.Declare("f");
    a.Define(InputBuilder::Function{.name = "unused"});
    a.AddCall(k, f);
    a.Relocate(a.TextOf(k), 4, kAbs32Lo, f);
    const SectionHandle zeroed = a.AddData(".nv.global", 8);
    a.Define(Variable{.name = "zeroed", .section = zeroed, .size = 8});
    a.Define(Variable{.name = "of_k",
                      .section = a.AddData(".nv.shared.k", 0, k),
                      .space = format::kStoShared,
                      .size = 20,
                      .value = 4});
    b.Define(InputBuilder::Function{.name = "f", .registers = 40, .fill = 0x33});
  }
  InputBuilder a;
  InputBuilder b;
};

TEST_CASE("An executable has what is live", "[image]") {
  TwoFiles files;
  const Output output = DescribeExecutable({&files.a, &files.b});
  CHECK(output.At(".text.k").data[0] == 0x11);
  CHECK(output.At(".text.f").data[0] == 0x33);
  CHECK_FALSE(output.Has(".text.unused"));
  CHECK(output.Symbol("unused") == nullptr);
  CHECK_FALSE(output.HasName(".strtab", "unused"));
  REQUIRE(output.Symbol("f") != nullptr);
  CHECK(diff::SectionKey(output.view, output.Symbol("f")->section) == ".text.f");
  CHECK(output.view.segments.size() == 4);
  CHECK(output.At(".nv.global").type == kShtNobits);
  CHECK(output.At(".nv.global").size == 8);
  CHECK(output.At(".nv.shared.k").size == 20);
  CHECK(output.Lines(".rel.text.k").find('f') != std::string::npos);
  CHECK(output.Lines(".nv.callgraph").find('k') != std::string::npos);
  CHECK(output.Lines(".nv.callgraph").find('f') != std::string::npos);
}

TEST_CASE("A kernel's registers are those of what it calls", "[image]") {
  TwoFiles files;
  const Output output = DescribeExecutable({&files.a, &files.b});
  const std::string records = output.Lines(".nv.info");
  INFO(records);
  // Of k and of f; and the stack of k.
  const auto data = output.At(".nv.info").data;
  int registers_of_40 = 0;
  int stacks = 0;
  for (std::size_t at = 0; at + 12 <= data.size(); at += 12) {
    if (data[at + 1] == format::kAttrRegCount && data[at + 8] == 40) ++registers_of_40;
    if (data[at + 1] == format::kAttrMinStackSize) ++stacks;
  }
  CHECK(registers_of_40 == 2);
  CHECK(stacks == 1);
}

TEST_CASE("Empty sections leave their names behind", "[image]") {
  InputBuilder a;
  a.AddData(".nv.shared.k", 0, a.DefineKernel("k"));
  const Output output = DescribeExecutable({&a});
  CHECK_FALSE(output.Has(".nv.shared.k"));
  CHECK(output.HasName(".shstrtab", ".nv.shared.k"));
  CHECK_FALSE(output.Has(".nv.prototype"));
  CHECK(output.HasName(".shstrtab", ".nv.prototype"));
  CHECK(output.HasName(".strtab", ".nv.prototype"));
}

TEST_CASE("A tool record says what was linked", "[image]") {
  TwoFiles files;
  for (const bool relocatable : {false, true}) {
    const Output output =
        relocatable ? DescribeRelocatable({&files.a}) : DescribeExecutable({&files.b});
    const auto data = output.At(".note.nv.tkinfo").data;
    const std::string text(data.begin(), data.end());
    CHECK(text.find("the object") != std::string::npos);
    CHECK(text.find("the options") != std::string::npos);
    CHECK(text.find("libdevlink ") != std::string::npos);
  }
}

TEST_CASE("With debug information shared variables have symbols behind the reserved bytes",
          "[image]") {
  TwoFiles files;
  const Output output =
      DescribeExecutable({&files.a, &files.b}, {.reserved = 0x400, .debug = true});
  CHECK(output.Has(".text.unused"));
  REQUIRE(output.Symbol("of_k") != nullptr);
  CHECK(output.Symbol("of_k")->value == 0x400);
  CHECK(diff::SectionKey(output.view, output.Symbol("of_k")->section) == ".nv.shared.k");
}

TEST_CASE("A partial link keeps all functions, and memory as compilers describe it", "[image]") {
  TwoFiles files;
  const Output output = DescribeRelocatable({&files.a, &files.b});
  CHECK(output.Has(".text.unused"));
  CHECK(output.view.segments.empty());
  CHECK(output.At(".nv.global").type == kShtCudaGlobal);
  CHECK(output.At(".nv.shared.k").type == kShtCudaShared);
  CHECK_FALSE(output.Has(".nv.rel.action"));
  const ViewSymbol* zeroed = output.Symbol("zeroed");
  REQUIRE(zeroed != nullptr);
  CHECK((zeroed->other & format::kStoGlobal) != 0);
}

TEST_CASE("What a partial link described is an input of the next", "[image]") {
  InputBuilder a;
  a.AsAssembled();
  // Its first instruction takes a number.
  const SymbolHandle k =
      a.Define(InputBuilder::Function{.name = "k", .kernel = true, .fill = 0x44});
  const SymbolHandle f = a.Declare("f");
  a.AddCall(k, f);
  a.Relocate(a.TextOf(k), 0, kAbs32Lo, f);
  a.Define(Variable{.name = "zeroed", .section = a.AddData(".nv.global", 8), .size = 8});
  InputBuilder b;
  b.AsAssembled();
  b.Define(InputBuilder::Function{.name = "f", .registers = 40});
  const Output first = DescribeRelocatable({&a, &b});
  auto module = internal::Module::Load(first.bytes);
  INFO(module.status());
  REQUIRE(module.ok());
  CHECK((*module)->sm() == 80);
}

TEST_CASE("Fields of code have what was resolved", "[image]") {
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle c = a.Define(Variable{.name = "c",
                                           .section = a.AddData(".nv.constant3", 0x20),
                                           .space = format::kStoConstant,
                                           .value = 0x10});
  a.Relocate(a.TextOf(k), 8, kAbs32, c, 1);
  const Output output = DescribeExecutable({&a});
  const auto code = output.At(".text.k").data;
  REQUIRE(code.size() == 16);
  CHECK(std::vector<std::uint8_t>(code.begin() + 6, code.begin() + 14) ==
        std::vector<std::uint8_t>{0x11, 0x11, 0x11, 0, 0, 0, 0x11, 0x11});
  CHECK_FALSE(output.Has(".rela.text.k"));
}

}  // namespace
}  // namespace devlink::testing
