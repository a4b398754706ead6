// SPDX-License-Identifier: Apache-2.0
//
// What a link of the C interface has besides its bytes: details and what is made of them, the call
// graph, the register file, runs of compilers, time traces, findings as JSON.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "c_api/session.h"
#include "devlink/c/devlink.h"
#include "devlink/experimental/link_explanation.h"
#include "devlink/link_session.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/fatbin_builder.h"
#include "support/text.h"
#include "unit/c_api/handles.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

dl_session_options WithDetails() {
  dl_session_options options = OptionsOf("sm_80");
  options.details = 1;
  options.call_graph_dot = 1;
  return options;
}

COutcome LinkTwo(const dl_session_options& options) {
  const CSession session = MakeSession(options);
  REQUIRE(session != nullptr);
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
  return Link(session);
}

LinkOutcome LinkTwoInCpp() {
  LinkOptions options;
  options.target = *Arch::Parse("sm_80");
  options.details = true;
  options.dot_call_graph = true;
  LinkSession session = *LinkSession::Create(options);
  REQUIRE(session.AddCubin("a", KernelCubin()).ok());
  REQUIRE(session.AddCubin("b", FunctionCubin()).ok());
  return session.Link();
}

TEST_CASE("Details are those of the C++ interface, word for word", "[c_api]") {
  const LinkOutcome expected = LinkTwoInCpp();
  REQUIRE(expected.ok());
  // The session is gone when they are asked for.
  const COutcome outcome = LinkTwo(WithDetails());
  const dl_outcome* linked = outcome.get();
  CHECK(Bytes(dl_outcome_cubin(linked)) == expected.cubin);
  const std::string json = TextFrom([&](auto out) { dl_outcome_report_json(linked, out); });
  CHECK(json == ToJson(expected.report));
  CHECK(json.find("\"callees\": [") != json.npos);
  CHECK(TextFrom([&](auto out) { dl_outcome_map(linked, out, nullptr); }) ==
        LinkMap(expected.report).value());
  CHECK(TextFrom([&](auto out) { dl_outcome_sizes(linked, out, nullptr); }) ==
        SizeTable(expected.report).value());
  CHECK(TextFrom([&](auto out) { dl_outcome_why_live(linked, "f", out, nullptr); }) ==
        WhyLive(expected.report, "f").value());
  CHECK(TextFrom([&](auto out) { dl_outcome_why_input(linked, "b", out, nullptr); }) ==
        WhyInput(expected.report, "b").value());
  CHECK(TextFrom([&](auto out) { dl_outcome_why_registers(linked, "kernel", out, nullptr); }) ==
        WhyRegisters(expected.report, "kernel").value());
  CHECK(TextFrom([&](auto out) { dl_outcome_report_html(linked, "<page>", out, nullptr); }) ==
        ToHtml(expected.report, expected.diagnostics, "<page>").value());
  CHECK(Text(dl_outcome_call_graph_dot(linked)) == expected.call_graph_dot.value());
}

TEST_CASE("Questions without an answer have a status and a sentence", "[c_api]") {
  const COutcome outcome = LinkTwo(WithDetails());
  CString text;
  CError error;
  CHECK(dl_outcome_why_live(outcome.get(), "kernl", Out(text), Out(error)) == DL_NOT_FOUND);
  CHECK(text == nullptr);
  CHECK(Text(dl_error_text(error.get())).find("kernel") != std::string::npos);
  CHECK(dl_outcome_why_input(outcome.get(), "c", Out(text), Out(error)) == DL_NOT_FOUND);
  CHECK(dl_outcome_why_registers(outcome.get(), "f", Out(text), nullptr) != DL_OK);
  CHECK(dl_outcome_why_live(outcome.get(), nullptr, Out(text), nullptr) == DL_INVALID_ARGUMENT);
  CHECK(dl_outcome_why_input(outcome.get(), nullptr, Out(text), nullptr) == DL_INVALID_ARGUMENT);
  CHECK(dl_outcome_why_registers(outcome.get(), nullptr, Out(text), nullptr) ==
        DL_INVALID_ARGUMENT);
  CHECK(dl_outcome_report_html(outcome.get(), nullptr, Out(text), nullptr) == DL_INVALID_ARGUMENT);
  CHECK(dl_outcome_map(outcome.get(), nullptr, Out(error)) == DL_INVALID_ARGUMENT);
  CHECK(error != nullptr);

  // Without details there is nothing to tell them of.
  const COutcome plain = LinkTwo(OptionsOf("sm_80"));
  const std::array<dl_status, 6> statuses = {
      dl_outcome_map(plain.get(), Out(text), Out(error)),
      dl_outcome_sizes(plain.get(), Out(text), nullptr),
      dl_outcome_why_live(plain.get(), "kernel", Out(text), nullptr),
      dl_outcome_why_input(plain.get(), "a", Out(text), nullptr),
      dl_outcome_why_registers(plain.get(), "kernel", Out(text), nullptr),
      dl_outcome_report_html(plain.get(), "page", Out(text), nullptr)};
  for (const dl_status status : statuses) CHECK(status == DL_FAILED_PRECONDITION);
  CHECK(text == nullptr);
  CHECK(dl_error_text(error.get()).size > 0);
  CHECK(dl_outcome_call_graph_dot(plain.get()).size == 0);
}

TEST_CASE("A link that fails can be asked, too", "[c_api]") {
  const CSession session = MakeSession(WithDetails());
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  const COutcome outcome = Link(session);
  REQUIRE(dl_outcome_status(outcome.get()) == DL_NOT_FOUND);
  const std::string page =
      TextFrom([&](auto out) { dl_outcome_report_html(outcome.get(), "x", out, nullptr); });
  CHECK(page.find("Undefined reference to 'f' in 'a'") != page.npos);
  CHECK(TextFrom([&](auto out) {
          dl_outcome_why_live(outcome.get(), "kernel", out, nullptr);
        }).find("kernel") != std::string::npos);
  CHECK(dl_outcome_call_graph_dot(outcome.get()).size > 0);
  // A copy of a session asks for the same.
  CSession copy;
  REQUIRE(dl_session_copy(session.get(), Out(copy), nullptr) == DL_OK);
  REQUIRE(Add(copy, "b", FunctionCubin()) == DL_OK);
  const COutcome good = Link(copy);
  CHECK_FALSE(TextFrom([&](auto out) { dl_outcome_map(good.get(), out, nullptr); }).empty());
}

TEST_CASE("Many threads may ask one outcome", "[c_api]") {
  const COutcome outcome = LinkTwo(WithDetails());
  const auto map_of = [&] {
    return TextFrom([&](auto out) { dl_outcome_map(outcome.get(), out, nullptr); });
  };
  const std::string expected = map_of();
  std::array<std::string, 4> maps;
  std::vector<std::thread> threads;
  for (std::string& map : maps) threads.emplace_back([&] { map = map_of(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& map : maps) CHECK(map == expected);
}

// A host object with one kernel, whose module is called `id`.
std::vector<std::uint8_t> Object(const char* kernel, const char* id) {
  const auto member = FatbinBuilder{.kind = CodeKind::kSass, .arch = {.number = 80}};
  const Cubin cubin = BuildCubin({.functions = {{.name = kernel, .kernel = true}}});
  return BuildHostObject(ToText(FatbinBuilder::Container({member.Member(cubin)})), id);
}

dl_report ReportOf(const COutcome& outcome) {
  dl_report report = {};
  report.size = sizeof report;
  REQUIRE(dl_outcome_report(outcome.get(), &report) == DL_OK);
  return report;
}

TEST_CASE("The register file is that of the C++ interface", "[c_api]") {
  dl_session_options options = OptionsOf("sm_80");
  std::string directory = "/work";
  options.register_directory = directory.c_str();
  const CSession session = MakeSession(options);
  directory = "/gone";  // it was copied
  LinkOptions in_cpp;
  in_cpp.target = *Arch::Parse("sm_80");
  in_cpp.register_directory = "/work";
  LinkSession other = *LinkSession::Create(in_cpp);
  const auto add = [&](const char* name, const std::vector<std::uint8_t>& bytes) {
    REQUIRE(Add(session, name, bytes) == DL_OK);
    REQUIRE(other.AddView(name, bytes).ok());
  };
  add("linked.o", BuildElf({{"__nv_module_id", std::string("def _a\0", 7)}}));
  add("a.o", Object("in_a", "_a"));
  add("b.o", Object("in_b", "_b"));
  const COutcome outcome = Link(session);
  const LinkOutcome expected = other.Link();
  REQUIRE(dl_outcome_status(outcome.get()) == DL_OK);
  const dl_report report = ReportOf(outcome);
  CHECK(report.inputs_accepted == 1);
  CHECK(report.dropped_device_runtime == 0);
  CHECK(report.compiler_run_count == 0);
  REQUIRE(report.registered_count == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    dl_registered_input input = {};
    input.size = sizeof input;
    REQUIRE(dl_outcome_registered_input(outcome.get(), i, &input) == DL_OK);
    CHECK(Text(input.name) == expected.registered[i].name);
    CHECK(input.left_out == (expected.registered[i].left_out ? 1 : 0));
    REQUIRE(input.id_count == expected.registered[i].ids.size());
    CHECK(Text(input.ids[0]) == expected.registered[i].ids[0]);
  }
  dl_registered_input input = {};
  input.size = sizeof input;
  CHECK(dl_outcome_registered_input(outcome.get(), 2, &input) == DL_OUT_OF_RANGE);
  CHECK(dl_outcome_registered_input(outcome.get(), 2, nullptr) == DL_INVALID_ARGUMENT);
  const std::string text =
      TextFrom([&](auto out) { dl_outcome_register_file(outcome.get(), out, nullptr); });
  CHECK(text == RegisterFileText(expected, "/work"));
  CHECK(text.find("_b") != text.npos);
  const std::string existing = "DEFINE_REGISTER_FUNC(_cuda_device_runtime_)";
  CHECK(KeepsRegisterFile(expected, existing));
  CHECK(dl_outcome_keeps_register_file(outcome.get(), existing.data(), existing.size()) == 1);
  CHECK(dl_outcome_keeps_register_file(outcome.get(), existing.data(), 3) == 0);
  CHECK(dl_outcome_keeps_register_file(outcome.get(), nullptr, 3) == 0);
}

TEST_CASE("There is no register file where nobody asked, or an input was in error", "[c_api]") {
  CString text;
  CError error;
  const COutcome plain = LinkTwo(OptionsOf("sm_80"));
  CHECK(dl_outcome_register_file(plain.get(), Out(text), Out(error)) == DL_FAILED_PRECONDITION);
  CHECK(Text(dl_error_text(error.get())).find("register_directory") != std::string::npos);

  dl_session_options options = OptionsOf("sm_80");
  options.register_directory = "/work";
  options.end_at_rejected_input = 1;
  const CSession session = MakeSession(options);
  CHECK(Add(session, "bad", BuildCubin({.sm = 75})) == DL_FAILED_PRECONDITION);
  const COutcome failed = Link(session);
  CHECK(ReportOf(failed).inputs_accepted == 0);
  CHECK(dl_outcome_register_file(failed.get(), Out(text), Out(error)) == DL_FAILED_PRECONDITION);
  CHECK(text == nullptr);
}

TEST_CASE("Runs of compilers are told one by one", "[c_api]") {
  LinkOutcome made;
  made.compiler_runs = {{.compiler = "ptxas",
                         .source = "x",
                         .input = "",
                         .output = "y",
                         .time = std::chrono::nanoseconds(42)}};
  const dl_outcome outcome(std::move(made), {}, {});
  dl_compiler_run run = {};
  run.size = sizeof run;
  REQUIRE(dl_outcome_compiler_run(&outcome, 0, &run) == DL_OK);
  CHECK(Text(run.compiler) == "ptxas");
  CHECK(Text(run.source) == "x");
  CHECK(Text(run.input).empty());
  CHECK(Text(run.output) == "y");
  CHECK(run.nanoseconds == 42);
  CHECK(dl_outcome_compiler_run(&outcome, 1, &run) == DL_OUT_OF_RANGE);
  CHECK(dl_outcome_compiler_run(&outcome, 1, nullptr) == DL_INVALID_ARGUMENT);
  run.size = 3;
  CHECK(dl_outcome_compiler_run(&outcome, 0, &run) == DL_INVALID_ARGUMENT);
  CHECK(dl_outcome_compiler_run(&outcome, 0, nullptr) == DL_INVALID_ARGUMENT);
}

TEST_CASE("Sessions record where their time goes", "[c_api]") {
  CTimeTrace trace;
  REQUIRE(dl_time_trace_create(Out(trace)) == DL_OK);
  const auto json = [&] {
    return TextFrom([&](auto out) { dl_time_trace_json(trace.get(), out); });
  };
  CHECK(json().find("traceEvents") != std::string::npos);
  CHECK(json().find("read input") == std::string::npos);
  dl_session_options options = OptionsOf("sm_80");
  options.time_trace = trace.get();
  const CSession session = MakeSession(options);
  REQUIRE(Add(session, "one input", FunctionCubin()) == DL_OK);
  CHECK(dl_outcome_status(Link(session).get()) == DL_OK);
  CHECK(json().find("one input") != std::string::npos);
  CHECK(json().find("\"link\"") != std::string::npos);
  // The session keeps it.
  trace.reset();
  REQUIRE(Add(session, "another", KernelCubin()) == DL_OK);
  CHECK(dl_outcome_status(Link(session).get()) == DL_OK);
}

TEST_CASE("Findings are JSON and SARIF, too", "[c_api]") {
  const CSession session = MakeSession(OptionsOf("sm_80"));
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  const COutcome outcome = Link(session);
  const dl_diagnostics* said = dl_outcome_diagnostics(outcome.get());
  REQUIRE(dl_diagnostics_count(said) == 1);
  const std::string json = TextFrom([&](auto out) { dl_diagnostics_json(said, out); });
  CHECK(json == ToJson(said->list[0]) + "\n");
  CHECK(json.find("undefined-reference") != json.npos);
  CHECK(TextFrom([&](auto out) { dl_diagnostics_sarif(said, out); }) == ToSarif(said->list));
}

TEST_CASE("Options and reports of an earlier header have nothing of this", "[c_api]") {
  dl_session_options earlier = WithDetails();
  std::memset(&earlier.time_trace, 0xff, sizeof earlier - offsetof(dl_session_options, time_trace));
  earlier.size = offsetof(dl_session_options, time_trace);
  const COutcome outcome = LinkTwo(earlier);
  CString text;
  CHECK(dl_outcome_map(outcome.get(), Out(text), nullptr) == DL_FAILED_PRECONDITION);
  dl_report report = {};
  report.size = offsetof(dl_report, registered_count);
  report.registered_count = 77;
  CHECK(dl_outcome_report(outcome.get(), &report) == DL_OK);
  CHECK(report.input_count == 2);
  CHECK(report.registered_count == 77);
}

}  // namespace
}  // namespace devlink::testing
