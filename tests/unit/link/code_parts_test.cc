// SPDX-License-Identifier: Apache-2.0
//
// Code is cut into parts of about one size.
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

using SectionNames = std::vector<std::string_view>;

// Two kernels with a function each.
class TwoKernelsInParts {
 public:
  TwoKernelsInParts() {
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
    return internal::CutIntoParts(builder.program, liveness, count);
  }
  [[nodiscard]] std::uint64_t Bytes() const {
    const CallGraph graph(builder.program);
    return internal::LiveCodeOf(builder.program,
                                internal::FindLiveFunctions(builder.program, graph, false))
        .bytes;
  }

  ProgramBuilder builder;
  FunctionId k = 0;
  FunctionId l = 0;
  FunctionId of_k = 0;
  FunctionId of_l = 0;

 private:
  std::deque<std::string> names_;
};

TEST_CASE("Code is cut function by function, what kernels share among it", "[parts]") {
  TwoKernelsInParts program;
  const FunctionId common = program.Add(false, 1024);
  program.builder.AddCall(program.of_k, common);
  program.builder.AddCall(program.of_l, common);
  program.Add(false, 1 << 20);  // nobody calls it
  CHECK(program.Bytes() == 4 * 128 + 1024);
  program.Add(true, 512);
  const auto parts = program.Cut();
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].sections == SectionNames{program.NameOf(common)});
  CHECK(parts[1].sections.size() == 5);
  CHECK(parts[1].bytes == 4 * 128 + 512);
}

TEST_CASE("Parts are of about one size", "[parts]") {
  TwoKernelsInParts program;
  program.Add(true, 1024);
  const FunctionId large = program.Add(true, 4096);
  program.Add(true, 2048);
  program.Add(true, 512);
  const auto parts = program.Cut();
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].sections == SectionNames{program.NameOf(large)});
  CHECK(parts[0].bytes + parts[1].bytes == program.Bytes());
}

TEST_CASE("There are as many parts as were asked for, or none", "[parts]") {
  TwoKernelsInParts program;
  CHECK(program.Cut(0).empty());
  const auto one = program.Cut(1);
  REQUIRE(one.size() == 1);
  CHECK(one[0].bytes == program.Bytes());
  CHECK(one[0].sections.size() == 4);
  CHECK(program.Cut(2).size() == 2);
  CHECK(program.Cut(4).size() == 4);
  CHECK(program.Cut(5).empty());
  program.Add(true, 1 << 20);  // of which the other part's time is nothing
  CHECK(program.Cut(2).empty());
}

TEST_CASE("Functions of one name stay together", "[parts]") {
  TwoKernelsInParts program;
  program.Name(program.of_l, program.k);
  const auto parts = program.Cut();
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].sections == SectionNames{program.NameOf(program.k)});
  CHECK(parts[0].bytes == 256);
  CHECK(parts[1].bytes == 256);
}

TEST_CASE("What goes is counted for itself", "[parts]") {
  TwoKernelsInParts program;
  program.Add(false, 1 << 20);
  const CallGraph graph(program.builder.program);
  const auto liveness = internal::FindLiveFunctions(program.builder.program, graph, false);
  const internal::LiveCode code = internal::LiveCodeOf(program.builder.program, liveness);
  CHECK(code.sections == 4);
  CHECK(code.bytes == 4 * 128);
  CHECK(code.bytes_that_go == 1 << 20);
}

TEST_CASE("By whom code stays is a shortest way from a kernel", "[parts]") {
  TwoKernelsInParts program;
  const FunctionId common = program.Add(false);
  const FunctionId behind = program.Add(false);
  const FunctionId unused = program.Add(false);
  program.builder.AddCall(program.of_k, common);
  program.builder.AddCall(program.l, common);  // nearer
  program.builder.AddCall(common, behind);
  program.builder.AddCall(behind, common);
  program.builder.AddCall(unused, common);
  const CallGraph graph(program.builder.program);
  const auto liveness = internal::FindLiveFunctions(program.builder.program, graph, false);
  const auto callers = internal::CallersFromKernels(graph, liveness);
  REQUIRE(callers.size() == 7);
  CHECK(callers[program.k] == internal::kNone);
  CHECK(callers[program.of_k] == program.k);
  CHECK(callers[common] == program.l);
  CHECK(callers[behind] == common);
  CHECK(callers[unused] == internal::kNone);
}

// Of the program with these uses; in order.
std::vector<FunctionId> OfAllParts(const TwoKernelsInParts& program) {
  const CallGraph graph(program.builder.program);
  const auto liveness = internal::FindLiveFunctions(program.builder.program, graph, false);
  return internal::CodeOfAllParts(program.builder.program, graph, liveness);
}

TEST_CASE("Shared memory of one kernel is no matter of other parts", "[parts]") {
  TwoKernelsInParts program;
  program.builder.AddUse(program.k, program.builder.AddShared(64, 1));
  program.builder.AddUse(program.l, program.builder.AddShared(64, 1));
  // The strictest alignment counts for all, and one user is enough to say it.
  CHECK(OfAllParts(program) == std::vector{program.k});
  program.builder.AddUse(program.l, program.builder.AddShared(64, 16));
  CHECK(OfAllParts(program) == std::vector{program.l});
}

TEST_CASE("All parts have what reaches shared memory of several", "[parts]") {
  TwoKernelsInParts program;
  const FunctionId third = program.Add(true);
  const FunctionId unused = program.Add(false);
  const internal::SymbolId common = program.builder.AddShared(64, 4);
  SECTION("of kernels") {
    program.builder.AddUse(program.k, common);
    program.builder.AddUse(third, common);
    CHECK(OfAllParts(program) == std::vector{program.k, third});
  }
  SECTION("of a function, which more kernels may come to") {
    program.builder.AddUse(program.of_l, common);
    CHECK(OfAllParts(program) == std::vector{program.l, program.of_l});
  }
  SECTION("of code that goes") {
    program.builder.AddUse(unused, common);
    CHECK(OfAllParts(program) == std::vector{unused});
  }
}

TEST_CASE("Of `extern __shared__` all parts have to know that there is one", "[parts]") {
  TwoKernelsInParts program;
  const internal::SymbolId rest = program.builder.AddExternalShared();
  program.builder.AddUse(program.k, rest);
  program.builder.AddUse(program.l, rest);
  CHECK(OfAllParts(program) == std::vector{program.k});
  // One that a file defines is laid out as all others are.
  program.builder.AddShared(64, 4);
  program.builder.program.symbols[rest].section = program.builder.program.module_shared;
  CHECK(OfAllParts(program) == std::vector{program.k, program.l});
}

TEST_CASE("All parts have what reaches functions with constants", "[parts]") {
  TwoKernelsInParts program;
  const auto add_constants = [&](FunctionId function) {
    const internal::SectionId id =
        program.builder.AddSection(internal::SectionKind::kFunctionConstants, function);
    program.builder.program.sections[id].bank = format::kCompilerBank;
  };
  add_constants(program.k);  // its own
  CHECK(OfAllParts(program).empty());
  add_constants(program.of_l);
  CHECK(OfAllParts(program) == std::vector{program.l, program.of_l});
}

TEST_CASE("A program without code has no parts", "[parts]") {
  const ProgramBuilder builder;
  const CallGraph graph(builder.program);
  const auto liveness = internal::FindLiveFunctions(builder.program, graph, false);
  CHECK(internal::CutIntoParts(builder.program, liveness, 2).empty());
}

}  // namespace
}  // namespace devlink::testing
