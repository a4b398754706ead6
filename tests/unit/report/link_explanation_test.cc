// SPDX-License-Identifier: Apache-2.0
//
// The details of a link, and what people are told of them.
#include "devlink/experimental/link_explanation.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "devlink/devlink.h"
#include "report/details_index.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "unit/cubin_builder.h"
#include "unit/input_builder.h"

namespace devlink::testing {
namespace {

LinkOptions WithDetails() {
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  options.details = true;
  return options;
}

LinkOutcome LinkAll(const std::vector<std::pair<std::string, Cubin>>& inputs,
                    const LinkOptions& options = WithDetails()) {
  auto session = LinkSession::Create(options);
  REQUIRE(session.ok());
  for (const auto& [name, cubin] : inputs) REQUIRE(session->AddCubin(name, cubin).ok());
  return session->Link();
}

// A kernel that calls two files deep, a copy of a weak function, a function that nobody calls.
LinkOutcome Program(const LinkOptions& options = WithDetails()) {
  const Cubin a = BuildCubin(
      {.functions = {{.name = "_Z1kPi", .calls = {"_Z3midi"}, .kernel = true, .registers = 10},
                     {.name = "_Z5twiceIiET_S0_", .weak = true},
                     {.name = "_Z4deadi", .calls = {"_Z4deepi"}}}});
  const Cubin b = BuildCubin({.functions = {{.name = "_Z3midi", .calls = {"_Z4deepi"}, .frame = 16},
                                            {.name = "_Z4deepi", .registers = 40, .frame = 32},
                                            {.name = "_Z5twiceIiET_S0_", .weak = true}},
                              .global_bytes = 24,
                              .global_name = "table"});
  return LinkAll({{"dir/a.cubin", a}, {"b.cubin", b}}, options);
}

TEST_CASE("Shared variables that no code names any more are not listed", "[report]") {
  InputBuilder a;
  const auto add = [&](const SymbolHandle code, const std::string& name) {
    const SymbolHandle variable =
        a.Define(InputBuilder::Variable{.name = name,
                                        .section = a.AddData(".nv_debug.shared", 0),
                                        .space = format::kStoShared,
                                        .size = 24,
                                        .value = 8});
    constexpr std::uint32_t kAbs32 = 0x37;
    a.Relocate(a.TextOf(code), 0, kAbs32, variable);
  };
  add(a.DefineKernel("k"), "used");
  add(a.Define(InputBuilder::Function{.name = "dead"}), "unused");
  auto session = LinkSession::Create(WithDetails());
  REQUIRE(session.ok());
  REQUIRE(session->AddModule("a", a.Build()).ok());
  const LinkOutcome outcome = session->Link();
  REQUIRE(outcome.ok());
  std::vector<std::string> names;
  for (const VariableDetails& variable : outcome.report.details->variables) {
    names.push_back(variable.name);
  }
  CHECK(names == std::vector<std::string>{"used"});
}

TEST_CASE("Without being asked a link keeps no details", "[report]") {
  LinkOptions options = WithDetails();
  options.details = false;
  const LinkOutcome outcome = Program(options);
  REQUIRE(outcome.ok());
  CHECK(outcome.report.details == nullptr);
  CHECK(WhyLive(outcome.report, "k").status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK_FALSE(WhyInput(outcome.report, "a").ok());
  CHECK_FALSE(WhyRegisters(outcome.report, "k").ok());
  CHECK_FALSE(SizeTable(outcome.report).ok());
  CHECK_FALSE(LinkMap(outcome.report).ok());
  CHECK_FALSE(ToHtml(outcome.report, {}, "x").ok());
  CHECK(ToJson(outcome.report).find("\"details\"") == std::string::npos);
  CHECK(outcome.cubin == Program().cubin);
}

TEST_CASE("A function is explained by the way from a kernel", "[report]") {
  const LinkReport report = Program().report;
  for (const char* name : {"_Z4deepi", "deep(int)", "deep"}) {
    CHECK(WhyLive(report, name).value() ==
          R"(_Z4deepi is deep(int) in 'b.cubin'
  kernel k(int*) in 'dir/a.cubin': every kernel stays, since no host code says which it launches
  calls mid(int) in 'b.cubin'
  calls deep(int) in 'b.cubin'
)");
  }
  CHECK(WhyLive(report, "dead").value() == R"(_Z4deadi is dead(int) in 'dir/a.cubin'
  it is not in the output: no kernel that stays reaches it
)");
  CHECK(WhyLive(report, "table").value().find("24 bytes at 0 in .nv.global.init") !=
        std::string::npos);
  const auto missing = WhyLive(report, "_Z4deepj");
  CHECK(missing.status().code() == absl::StatusCode::kNotFound);
  CHECK(std::string(missing.status().message()).find("similar: '_Z4deepi'") != std::string::npos);
}

TEST_CASE("What nobody asked for by name is not said to be asked for", "[report]") {
  InputBuilder a;
  a.DefineKernel("k");
  const SymbolHandle f = a.Define(InputBuilder::Function{.name = "f"});
  a.TakeAddress(f, "v_");
  a.AddCall(f, a.Declare("vprintf"));
  const ModuleRef module = a.Build();
  const auto link = [&](const LinkOptions& options) {
    auto session = LinkSession::Create(options);
    REQUIRE(session->AddModule("a", module).ok());
    LinkOutcome outcome = session->Link();
    REQUIRE(outcome.ok());
    return outcome.report;
  };
  const LinkReport unasked = link(WithDetails());
  for (const FunctionDetails& function : unasked.details->functions) {
    CHECK(function.why != LiveReason::kAskedFor);
  }
  LinkOptions asking = WithDetails();
  asking.kept_functions = {"f"};
  const LinkReport asked = link(asking);
  CHECK(std::ranges::count(asked.details->functions, LiveReason::kAskedFor,
                           &FunctionDetails::why) == 1);
}

TEST_CASE("What only pointers lead to is explained by who calls it", "[report]") {
  constexpr std::uint32_t kAbs64 = 2;
  InputBuilder a;
  const SymbolHandle k = a.DefineKernel("k");
  const SymbolHandle f = a.Define(InputBuilder::Function{.name = "f"});
  const SymbolHandle g = a.Define(InputBuilder::Function{.name = "g"});
  a.AddAddressTaker(k, f);
  a.TakeAddress(f, "v_");
  a.Relocate(a.TextOf(k), 0, kAbs64, f);
  a.AddCall(f, g);
  auto session = LinkSession::Create(WithDetails());
  REQUIRE(session->AddModule("a", a.Build()).ok());
  const LinkOutcome outcome = session->Link();
  REQUIRE(outcome.ok());
  const auto& functions = outcome.report.details->functions;
  const auto found = std::ranges::find(functions, "g", &FunctionDetails::name);
  REQUIRE(found != functions.end());
  CHECK(found->why == LiveReason::kCalled);
  const auto text = WhyLive(outcome.report, "g").value();
  INFO(text);
  CHECK(text.find("  takes the address of f in 'a'\n  calls g in 'a'\n") != std::string::npos);
}

TEST_CASE("Kernels are explained by who chose them", "[report]") {
  LinkOptions options = WithDetails();
  options.kernels_used = {"k"};
  const Cubin cubin =
      BuildCubin({.functions = {{.name = "k", .kernel = true}, {.name = "other", .kernel = true}}});
  const LinkReport named = LinkAll({{"a", cubin}}, options).report;
  CHECK(WhyLive(named, "k").value().find("-kernels-used wants it") != std::string::npos);
  CHECK(WhyLive(named, "other").value().find("it is not in the output: none of the texts") !=
        std::string::npos);
  // One that device code uses stays for that.
  const Cubin nested = BuildCubin({.functions = {{.name = "k", .calls = {"f"}, .kernel = true},
                                                 {.name = "f", .calls = {"other"}},
                                                 {.name = "other", .kernel = true}}});
  CHECK(WhyLive(LinkAll({{"a", nested}}, options).report, "other").value() ==
        "other in 'a'\n  kernel k in 'a': -kernels-used wants it\n  calls f in 'a'\n"
        "  calls other in 'a'\n");
  options = WithDetails();
  options.debug = true;
  const LinkReport debugged = LinkAll({{"a", cubin}}, options).report;
  CHECK(WhyLive(debugged, "other").value().find("everything stays") != std::string::npos);
}

TEST_CASE("A kernel's registers, stack and barriers have an author", "[report]") {
  CHECK(WhyRegisters(Program().report, "k").value() == R"(_Z1kPi is k(int*) in 'dir/a.cubin'
  registers: 40
    10 of its own body; the most has
    calls mid(int) in 'b.cubin': 8
    calls deep(int) in 'b.cubin': 40
  stack: 48 bytes
    16 of mid(int) in 'b.cubin'
    32 of deep(int) in 'b.cubin'
  barriers: 0
  shared memory: 0 bytes
)");
  const Cubin circle = BuildCubin({.functions = {{.name = "k", .calls = {"f"}, .kernel = true},
                                                 {.name = "f", .calls = {"f"}}}});
  CHECK(WhyRegisters(LinkAll({{"a", circle}}).report, "k")
            .value()
            .find("stack: unknown, since calls can go round") != std::string::npos);
  CHECK(WhyRegisters(Program().report, "_Z4deepi").status().code() == absl::StatusCode::kNotFound);
}

TEST_CASE("An input is explained by what stays of it", "[report]") {
  const LinkReport report = Program().report;
  CHECK(WhyInput(report, "a.cubin").value() == R"(dir/a.cubin: an input; all inputs are linked
  1 of 3 functions are in the output, 256 of 768 bytes of code; 0 variables, 0 bytes
  int twice<int>(int), 256 bytes: not in the output
  k(int*), 256 bytes: kernel; every kernel stays, since no host code says which it launches
  dead(int), 256 bytes: not in the output
)");
  CHECK(WhyInput(report, "c.cubin").status().code() == absl::StatusCode::kNotFound);

  auto session = LinkSession::Create(WithDetails());
  const Cubin code = BuildCubin({.functions = {{.name = "k", .kernel = true}}});
  REQUIRE(session->AddCubin("a", code).ok());
  REQUIRE(session->AddInput("plain.o", BuildElf({{".text", "x"}})).ok());
  REQUIRE(session
              ->AddInput("whole.o",
                         BuildElf({{".nv_fatbin", EmptyFatbin()}, {".nvFatBinSegment", "x"}}))
              .ok());
  CHECK_FALSE(session->AddFile("/nowhere/none.o").ok());
  const LinkReport of_all = session->Link().report;
  CHECK(WhyInput(of_all, "plain.o").value() ==
        "plain.o: not linked; there is no device code in it\n");
  CHECK(WhyInput(of_all, "whole.o").value() ==
        "whole.o: not linked; its device code is linked already\n");
  // What could not be read says nothing of what is in it.
  CHECK(WhyInput(of_all, "none.o").status().code() == absl::StatusCode::kNotFound);
}

TEST_CASE("Inputs of one name come from the same place", "[report]") {
  const Cubin one = BuildCubin({.functions = {{.name = "k", .kernel = true}}});
  const Cubin other = BuildCubin({.functions = {{.name = "f"}}});
  const LinkReport report = LinkAll({{"a", one}, {"a", other}}).report;
  REQUIRE(report.details->inputs.size() == 2);
  for (const InputDetails& input : report.details->inputs) {
    CHECK(input.origin == InputOrigin::kFile);
  }
  CHECK(report.details->left_out.empty());
}

TEST_CASE("Sizes are told by kind, input, function and template", "[report]") {
  const std::string sizes = SizeTable(Program().report).value();
  CHECK(sizes.find("In the file: ") == 0);
  CHECK(sizes.find("Code and variables by input: 792 bytes\n"
                   "         536  67.7%  b.cubin\n"
                   "         256  32.3%  dir/a.cubin\n") != std::string::npos);
  CHECK(sizes.find("Code that was left out: 512 bytes\n") != std::string::npos);
  CHECK(sizes.find("Copies in inputs that were discarded: 256 bytes\n"
                   "         256 100.0%  int twice<int>(int)\n") != std::string::npos);
}

TEST_CASE("Names that only begin as those of code and relocations are of neither", "[report]") {
  const auto sizes_with = [&](const char* name) {
    InputBuilder b;
    b.DefineKernel("k");
    b.AddData(name, 7777, kNoSymbol, 0x22, 1);
    auto session = LinkSession::Create(WithDetails());
    REQUIRE(session.ok());
    REQUIRE(session->AddModule("b", b.Build()).ok());
    const LinkOutcome outcome = session->Link();
    REQUIRE(outcome.ok());
    return SizeTable(outcome.report).value();
  };
  for (const char* name : {".relax", ".text_x"}) {
    const std::string sizes = sizes_with(name);
    CAPTURE(name, sizes);
    const std::size_t at = sizes.find("everything else");
    REQUIRE(at != std::string::npos);
    const std::size_t line = sizes.rfind('\n', at) + 1;
    CHECK(std::stoi(sizes.substr(line)) >= 7777);
  }
}

TEST_CASE("A map has everything once", "[report]") {
  const LinkOutcome outcome = Program();
  const std::string map = LinkMap(outcome.report).value();
  for (const char* heading : {"Inputs\n", "\nSections\n", "\nKernels\n", "\nFunctions\n",
                              "\nFunctions that are left out\n", "\nVariables\n"}) {
    CHECK(map.find(heading) != std::string::npos);
    CHECK(map.find(heading) == map.rfind(heading));
  }
  CHECK(map.find(".text._Z4deepi\n") != std::string::npos);
  CHECK(map.find("       40         48          0") != std::string::npos);
  std::uint64_t bytes = 0;
  for (const SectionDetails& section : outcome.report.details->sections) {
    bytes += section.file_bytes;
  }
  CHECK(bytes < outcome.cubin.size());
  CHECK(bytes > outcome.cubin.size() / 2);
}

TEST_CASE("Nothing of an input becomes part of a page or of lines", "[report]") {
  const std::string evil = "</script><b>\n\x1b[31m";
  const Cubin cubin = BuildCubin({.functions = {{.name = evil, .kernel = true}}});
  const LinkOutcome outcome = LinkAll({{evil, cubin}});
  REQUIRE(outcome.ok());
  const std::string page = ToHtml(outcome.report, outcome.diagnostics, evil).value();
  CHECK(page.find("</script><b>") == std::string::npos);
  CHECK(page.find("\\u003c/script>") != std::string::npos);
  CHECK(page.find("&lt;/script&gt;") != std::string::npos);
  for (const std::string& text :
       {page, LinkMap(outcome.report).value(), SizeTable(outcome.report).value(),
        WhyInput(outcome.report, evil).value()}) {
    CHECK(text.find('\x1b') == std::string::npos);
  }
  for (const char* mark : {"http://", "https://", "src=", "@import", "url("}) {
    std::string rest = page;
    // The name of a namespace is an address that nothing asks for.
    const std::string known = "http://www.w3.org/2000/svg";
    for (std::size_t at; (at = rest.find(known)) != std::string::npos;) {
      rest.erase(at, known.size());
    }
    CAPTURE(mark);
    CHECK(rest.find(mark) == std::string::npos);
  }
}

TEST_CASE("Names are shortened where C++ ends them", "[report]") {
  using internal::TemplateName;
  using internal::WithoutParameters;
  CHECK(WithoutParameters("f(int)") == "f");
  CHECK(WithoutParameters("void ns::f<int, g(char)>(int)") == "ns::f<int, g(char)>");
  CHECK(WithoutParameters("(anonymous namespace)::f(int)") == "(anonymous namespace)::f");
  CHECK(WithoutParameters("S::operator()(int) const") == "S::operator()");
  CHECK(WithoutParameters("operator<<(S&, int)") == "operator<<");
  CHECK(WithoutParameters("kernel") == "kernel");
  CHECK(TemplateName("void ns::f<int>(int)") == "ns::f<>");
  CHECK(TemplateName("operator<(S, S)").empty());
  CHECK(TemplateName("f(std::vector<int>)").empty());
}

TEST_CASE("A graph with many ways is walked once", "[report]") {
  // A ladder of 2,000 steps has 2^2000 ways down.
  LinkDetails details;
  constexpr std::uint32_t kSteps = 2000;
  for (std::uint32_t i = 0; i < kSteps; ++i) {
    details.functions.push_back({.name = "l", .frame_bytes = 1, .callees = {2 * i + 2, 2 * i + 3}});
    details.functions.push_back({.name = "r", .frame_bytes = 2, .callees = {2 * i + 2, 2 * i + 3}});
  }
  details.functions.push_back({.name = "l"});
  details.functions.push_back({.name = "r"});
  const internal::DetailsGraph graph(details);
  CHECK(graph.ReachableFrom(0).size() == 2 * kSteps + 1);
  CHECK(graph.DeepestWay(0).size() == kSteps + 1);
  details.functions.back().callees = {1};
  CHECK(internal::DetailsGraph(details).DeepestWay(1).empty());
}

}  // namespace
}  // namespace devlink::testing
