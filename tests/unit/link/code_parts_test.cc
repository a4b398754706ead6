// SPDX-License-Identifier: Apache-2.0
//
// Code is cut where nothing that lies on one side depends on the other.
#include "link/code_parts.h"

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "unit/link/program_builder.h"

namespace devlink::testing {
namespace {

using internal::CallGraph;
using internal::CodePart;
using internal::FunctionId;
using internal::SymbolId;

using Names = std::vector<std::string_view>;

// Two kernels with a function each.
class TwoKernels {
 public:
  TwoKernels() {
    k = Add(true);
    l = Add(true);
    of_k = Add(false);
    of_l = Add(false);
    builder.AddCall(k, of_k);
    builder.AddCall(l, of_l);
  }

  FunctionId Add(bool kernel, std::uint64_t size = 128) {
    const FunctionId id = builder.AddFunction(kernel);
    internal::Section& text = builder.program.sections[builder.program.functions[id].text];
    text.name = names_.emplace_back(".text." + std::to_string(id));
    text.size = size;
    return id;
  }
  void Name(FunctionId function, FunctionId as) {
    builder.program.sections[builder.program.functions[function].text].name = NameOf(as);
  }
  [[nodiscard]] std::string_view NameOf(FunctionId function) const {
    return builder.program.sections[builder.program.functions[function].text].name;
  }
  [[nodiscard]] std::vector<CodePart> Cut(std::size_t count = 2) const {
    const CallGraph graph(builder.program);
    const auto liveness = internal::FindLiveFunctions(builder.program, graph, false);
    return internal::CutIntoParts(builder.program, graph, liveness, count);
  }
  [[nodiscard]] std::uint64_t Bytes() const {
    const CallGraph graph(builder.program);
    return internal::BytesOfLiveCode(builder.program,
                                     internal::FindLiveFunctions(builder.program, graph, false));
  }

  ProgramBuilder builder;
  FunctionId k = 0;
  FunctionId l = 0;
  FunctionId of_k = 0;
  FunctionId of_l = 0;

 private:
  std::deque<std::string> names_;
};

TEST_CASE("Each part has kernels with all that they reach", "[parts]") {
  TwoKernels program;
  const FunctionId common = program.Add(false);
  program.builder.AddCall(program.of_k, common);
  program.builder.AddCall(program.of_l, common);
  program.Add(false, 1 << 20);  // nobody calls it
  CHECK(program.Bytes() == 5 * 128);
  const auto parts = program.Cut();
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].sections ==
        Names{program.NameOf(program.k), program.NameOf(program.of_k), program.NameOf(common)});
  CHECK(parts[1].sections ==
        Names{program.NameOf(program.l), program.NameOf(program.of_l), program.NameOf(common)});
  CHECK(parts[0].bytes == std::uint64_t{3} * 128);
}

TEST_CASE("Parts are of about one size", "[parts]") {
  TwoKernels program;
  program.Add(true, 1024);
  const FunctionId large = program.Add(true, 4096);
  program.Add(true, 2048);
  program.Add(true, 512);
  const auto parts = program.Cut();
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].sections == Names{program.NameOf(large)});
  CHECK(parts[0].bytes + parts[1].bytes == program.Bytes());
}

TEST_CASE("There are as many parts as were asked for, or none", "[parts]") {
  TwoKernels program;
  CHECK(program.Cut(0).empty());
  CHECK(program.Cut(1).empty());
  CHECK(program.Cut(3).empty());
  CHECK(program.Cut(2).size() == 2);
  program.Add(true, 1 << 20);  // of which the other part's time is nothing
  CHECK(program.Cut(2).empty());
}

TEST_CASE("Kernels stay together where several use a shared variable", "[parts]") {
  TwoKernels program;
  const FunctionId third = program.Add(true, 256);
  const SymbolId of_both = program.builder.AddShared(64, 4);
  program.builder.AddUse(program.of_k, of_both);
  SECTION("one that both reach") {
    program.builder.AddUse(program.of_l, of_both);
    const auto parts = program.Cut();
    REQUIRE(parts.size() == 2);
    CHECK(std::min(parts[0].sections.size(), parts[1].sections.size()) == 1);
    const auto& alone = parts[0].sections.size() == 1 ? parts[0] : parts[1];
    CHECK(alone.sections == Names{program.NameOf(third)});
  }
  SECTION("two of which each pair has another") {
    const SymbolId other = program.builder.AddShared(32, 4);
    program.builder.AddUse(program.l, of_both);
    program.builder.AddUse(program.l, other);
    program.builder.AddUse(third, other);
    CHECK(program.Cut().empty());
  }
  SECTION("not where each has its own") {
    program.builder.AddUse(program.of_l, program.builder.AddShared(32, 4));
    const auto parts = program.Cut();
    REQUIRE(parts.size() == 2);
    CHECK(std::max(parts[0].sections.size(), parts[1].sections.size()) < 5);
  }
}

TEST_CASE("Kernels stay together where one function says where their memory begins", "[parts]") {
  TwoKernels program;
  const FunctionId common = program.Add(false);
  program.builder.AddCall(program.k, common);
  program.builder.AddCall(program.l, common);
  SECTION("of external shared memory") {
    program.builder.AddUse(common, program.builder.AddExternalShared());
    CHECK(program.Cut().empty());
  }
  SECTION("of the compiler's constants") {
    internal::Symbol symbol;
    symbol.section = program.builder.AddSection(internal::SectionKind::kFunctionConstants, common);
    program.builder.program.symbols.push_back(symbol);
    program.builder.AddUse(common,
                           static_cast<SymbolId>(program.builder.program.symbols.size() - 1));
    CHECK(program.Cut().empty());
  }
  SECTION("not where it says nothing") { CHECK(program.Cut().size() == 2); }
}

TEST_CASE("Functions of one name stay together, unless they are copies of one", "[parts]") {
  TwoKernels program;
  const std::vector<std::uint8_t> code(128, 1);
  std::vector<std::uint8_t> other = code;
  const auto text_of = [&](FunctionId function) -> internal::Section& {
    return program.builder.program.sections[program.builder.program.functions[function].text];
  };
  text_of(program.of_k).pieces.push_back({code, 0});
  text_of(program.of_l).pieces.push_back({other, 0});
  CHECK(program.Cut().size() == 2);
  program.Name(program.of_l, program.of_k);
  SECTION("copies") {
    const auto parts = program.Cut();
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].sections.back() == program.NameOf(program.of_k));
    CHECK(parts[1].sections.back() == program.NameOf(program.of_k));
  }
  SECTION("other code") {
    other[64] = 2;
    CHECK(program.Cut().empty());
  }
  SECTION("of another size") {
    text_of(program.of_l).size = 256;
    CHECK(program.Cut().empty());
  }
  SECTION("with references") {
    text_of(program.of_l).rela = 0;
    CHECK(program.Cut().empty());
  }
}

TEST_CASE("A shared variable that only dead code names counts where several kernels share others",
          "[parts]") {
  TwoKernels program;
  program.Add(true, 256);
  const FunctionId dead = program.Add(false);
  const SymbolId variable = program.builder.AddShared(64, 4);
  program.builder.AddUse(dead, variable);
  program.builder.AddUse(dead, program.builder.AddExternalShared());
  CHECK(program.Cut().size() == 2);
  const SymbolId of_both = program.builder.AddShared(32, 4);
  program.builder.AddUse(program.of_k, of_both);
  program.builder.AddUse(program.of_l, of_both);
  CHECK(program.Cut().empty());
  program.builder.AddUse(program.of_k, variable);
  CHECK(program.Cut().size() == 2);
}

TEST_CASE("A shared variable of code that no kernel reaches keeps all together", "[parts]") {
  TwoKernels program;
  const FunctionId pointed = program.Add(false);
  program.builder.program.addresses_taken.push_back({.function = pointed, .prototype = 1});
  program.builder.program.address_takers.push_back({.caller = program.k, .callee = pointed});
  CHECK(program.Cut().size() == 2);
  program.builder.AddUse(pointed, program.builder.AddShared(64, 4));
  CHECK(program.Cut().empty());
}

TEST_CASE("What stays without a kernel is in one part, too", "[parts]") {
  TwoKernels program;
  const FunctionId pointed = program.Add(false);
  program.builder.program.addresses_taken.push_back({.function = pointed, .prototype = 1});
  program.builder.program.address_takers.push_back({.caller = program.k, .callee = pointed});
  const auto parts = program.Cut();
  REQUIRE(parts.size() == 2);
  const auto has = [&](const CodePart& part, FunctionId function) {
    return std::ranges::find(part.sections, program.NameOf(function)) != part.sections.end();
  };
  CHECK(has(parts[0], pointed) != has(parts[1], pointed));
}

}  // namespace
}  // namespace devlink::testing
