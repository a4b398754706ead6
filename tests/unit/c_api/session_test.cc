// SPDX-License-Identifier: Apache-2.0
//
// Sessions, options and outcomes of the C interface.
#include "c_api/session.h"

#include <cstdint>
#include <cstring>
#include <regex>
#include <string>
#include <vector>

#include "command/option_table.h"
#include "devlink/c/devlink.h"
#include "devlink/link_session.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/host_object.h"
#include "support/process.h"
#include "unit/c_api/handles.h"
#include "unit/cubin_builder.h"
#include "unit/tree/source_tree.h"

namespace devlink::testing {
namespace {

// What the C++ interface makes of the same.
LinkOutcome LinkInCpp(LinkOptions options) {
  options.target = *Arch::Parse("sm_80");
  LinkSession session = *LinkSession::Create(std::move(options));
  REQUIRE(session.AddCubin("a", KernelCubin()).ok());
  REQUIRE(session.AddCubin("b", FunctionCubin()).ok());
  return session.Link();
}

CSession WithTwoInputs(const dl_session_options& options) {
  CSession session = MakeSession(options);
  REQUIRE(session != nullptr);
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
  return session;
}

TEST_CASE("The C interface writes the bytes of the C++ interface", "[c_api]") {
  const LinkOutcome expected = LinkInCpp({});
  REQUIRE(expected.ok());
  CSession session = WithTwoInputs(OptionsOf("sm_80"));
  const COutcome outcome = Link(session);
  REQUIRE(outcome != nullptr);
  CHECK(dl_outcome_status(outcome.get()) == DL_OK);
  CHECK(Text(dl_outcome_message(outcome.get())).empty());
  CHECK(Bytes(dl_outcome_cubin(outcome.get())) == expected.cubin);
  CHECK(dl_outcome_ptx(outcome.get()).size == 0);

  // The bytes outlive the session, and a second link is another outcome of the same bytes.
  const COutcome again = Link(session);
  session.reset();
  CHECK(Bytes(dl_outcome_cubin(outcome.get())) == Bytes(dl_outcome_cubin(again.get())));
}

TEST_CASE("Every way to add an input makes the same program", "[c_api]") {
  const std::vector<std::uint8_t> expected = LinkInCpp({}).cubin;
  const Cubin& a = KernelCubin();
  const Cubin& b = FunctionCubin();
  const auto linked = [&](const auto& add) {
    const CSession session = MakeSession(OptionsOf("sm_80"));
    add(session.get());
    const COutcome outcome = Link(session);
    return Bytes(dl_outcome_cubin(outcome.get()));
  };
  CHECK(linked([&](dl_session* session) {
          CHECK(dl_session_add_cubin(session, "a", a.data(), a.size(), nullptr) == DL_OK);
          CHECK(dl_session_add_cubin(session, "b", b.data(), b.size(), nullptr) == DL_OK);
        }) == expected);
  CHECK(linked([&](dl_session* session) {
          const dl_input both[] = {{"a", a.data(), a.size()}, {"b", b.data(), b.size()}};
          CHECK(dl_session_add_all_bytes(session, both, 2, nullptr) == DL_OK);
        }) == expected);
  const TemporaryDirectory folder;
  REQUIRE(WriteBytes(folder.path() / "a.cubin", a));
  REQUIRE(WriteBytes(folder.path() / "b.cubin", b));
  const std::string path_a = (folder.path() / "a.cubin").string();
  const std::string path_b = (folder.path() / "b.cubin").string();
  CHECK(linked([&](dl_session* session) {
          CHECK(dl_session_add_file(session, path_a.c_str(), nullptr) == DL_OK);
          CHECK(dl_session_add_file(session, path_b.c_str(), nullptr) == DL_OK);
        }) == expected);
  CHECK(linked([&](dl_session* session) {
          const char* const paths[] = {path_a.c_str(), path_b.c_str()};
          CHECK(dl_session_add_files(session, paths, 2, nullptr) == DL_OK);
        }) == expected);
  CHECK(linked([&](dl_session* session) {
          CPool pool;
          CHECK(dl_pool_create(nullptr, Out(pool), nullptr) == DL_OK);
          CModule one;
          CModule other;
          CHECK(dl_pool_add_cubin(pool.get(), a.data(), a.size(), Out(one), nullptr) == DL_OK);
          CHECK(dl_pool_add_cubin(pool.get(), b.data(), b.size(), Out(other), nullptr) == DL_OK);
          CHECK(dl_session_add_module(session, "a", one.get(), nullptr) == DL_OK);
          CHECK(dl_session_add_module(session, "b", other.get(), nullptr) == DL_OK);
        }) == expected);
}

TEST_CASE("A buffer may go once it was added", "[c_api]") {
  Cubin copy = KernelCubin();
  const CSession session = MakeSession(OptionsOf("sm_80"));
  REQUIRE(Add(session, "a", copy) == DL_OK);
  std::memset(copy.data(), 0xff, copy.size());
  REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
  CHECK(Bytes(dl_outcome_cubin(Link(session).get())) == LinkInCpp({}).cubin);
}

TEST_CASE("Option texts mean what they mean on the command line", "[c_api]") {
  const LinkOutcome relocatable = LinkInCpp({.relocatable = true});
  dl_session_options options = OptionsOf("sm_80");
  const char* const texts[] = {"-r"};
  options.options = texts;
  options.option_count = 1;
  CHECK(Bytes(dl_outcome_cubin(Link(WithTwoInputs(options)).get())) == relocatable.cubin);

  const CSession session = MakeSession(OptionsOf(nullptr));
  REQUIRE(dl_session_set_option(session.get(), "--relocatable-link", nullptr) == DL_OK);
  REQUIRE(dl_session_set_option(session.get(), "-arch=sm_80", nullptr) == DL_OK);
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
  CHECK(Bytes(dl_outcome_cubin(Link(session).get())) == relocatable.cubin);

  const CSession debug = MakeSession(OptionsOf("sm_80"));
  REQUIRE(dl_session_set_option(debug.get(), "-g", nullptr) == DL_OK);
  REQUIRE(Add(debug, "a", KernelCubin()) == DL_OK);
  REQUIRE(Add(debug, "b", FunctionCubin()) == DL_OK);
  CHECK(Bytes(dl_outcome_cubin(Link(debug).get())) == LinkInCpp({.debug = true}).cubin);
}

TEST_CASE("What the command does with files and streams is no option of a session", "[c_api]") {
  const CSession session = MakeSession(OptionsOf("sm_80"));
  const std::string header = TextOf(TreeRoot() / "libdevlink/include/devlink/c/devlink.h");
  const std::regex name(R"(\bdl_\w+)");
  std::size_t refused = 0;
  std::size_t elsewhere = 0;
  for (const internal::Option& option : internal::Options()) {
    // The output's name stands in its record; files of options, of names and for .nv.host are read;
    // tools are chosen elsewhere.
    const bool is_read = option.long_name == "options-file" || option.long_name == "nv-host" ||
                         option.long_name == "retain-symbols-file";
    const bool is_file = option.value.starts_with("file") && option.long_name != "output-file" &&
                         !is_read && option.concern != internal::Concern::kTools;
    if (is_read || (!is_file && option.group != internal::Group::kOwnReports)) continue;
    std::string word = "--" + std::string(option.long_name);
    if (option.takes != internal::Takes::kNothing) {
      word += option.long_name == "print-after" ? "=merge" : "=x";
    }
    CAPTURE(word);
    CError error;
    CHECK(dl_session_set_option(session.get(), word.c_str(), Out(error)) == DL_INVALID_ARGUMENT);
    const std::string text = Text(dl_error_text(error.get()));
    CHECK(text.starts_with("--" + std::string(option.long_name) + " is for the command alone"));
    // What the text sends the caller to is there.
    for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
      ++elsewhere;
      CHECK(header.find(at->str()) != std::string::npos);
    }
    ++refused;
  }
  CHECK(refused > 14);
  CHECK(elsewhere > 14);
}

TEST_CASE("No option is passed over", "[c_api]") {
  // Each is taken or refused; what is taken is nvlink's to ignore, or changes a LinkOptions.
  for (const internal::Option& option : internal::Options()) {
    if (option.concern != internal::Concern::kCommand) continue;
    const CSession session = MakeSession(OptionsOf("sm_80"));
    std::string word = "--" + std::string(option.long_name);
    if (option.takes != internal::Takes::kNothing) word += "=1";
    CAPTURE(word);
    CHECK(dl_session_set_option(session.get(), word.c_str(), nullptr) == DL_INVALID_ARGUMENT);
  }
}

TEST_CASE("What -dump-callgraph prints is in the diagnostics", "[c_api]") {
  LinkOptions options;
  options.dump_call_graph = true;
  const LinkOutcome expected = LinkInCpp(options);
  for (const char* word : {"-dump-callgraph", "-dump-callgraph-no-demangle"}) {
    CAPTURE(word);
    const CSession session = MakeSession(OptionsOf("sm_80"));
    REQUIRE(dl_session_set_option(session.get(), word, nullptr) == DL_OK);
    REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
    REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
    const COutcome outcome = Link(session);
    const dl_diagnostics* said = dl_outcome_diagnostics(outcome.get());
    REQUIRE(dl_diagnostics_count(said) == expected.diagnostics.size());
    REQUIRE(dl_diagnostics_count(said) > 1);
    for (std::size_t i = 0; i < dl_diagnostics_count(said); ++i) {
      dl_diagnostic line = {};
      line.size = sizeof line;
      REQUIRE(dl_diagnostics_get(said, i, &line) == DL_OK);
      CHECK(line.verbatim == 1);
      CHECK(Text(line.text) == expected.diagnostics[i].text);
    }
  }
}

TEST_CASE("The file of -nv-host is read", "[c_api]") {
  const TemporaryDirectory folder;
  REQUIRE(WriteText(folder.path() / "host", "some bytes"));
  REQUIRE(WriteText(folder.path() / "empty", ""));
  LinkOptions options;
  options.host_section = "some bytes";
  const CSession session = MakeSession(OptionsOf("sm_80"));
  const auto set = [&](const std::string& file) {
    CError error;
    dl_session_set_option(session.get(), ("-nv-host=" + folder.File(file)).c_str(), Out(error));
    return Text(dl_error_text(error.get()));
  };
  CHECK(set("none") == "Could not open input file '" + folder.File("none") + "'");
  CHECK(set("empty") == "Could not read file '" + folder.File("empty") + "'");
  REQUIRE(set("host").empty());
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
  CHECK(Bytes(dl_outcome_cubin(Link(session).get())) == LinkInCpp(options).cubin);
}

TEST_CASE("Option texts that are wrong are refused, and the session goes on", "[c_api]") {
  const CSession session = MakeSession(OptionsOf("sm_80"));
  const auto refusal = [&](const char* option) {
    CError error;
    const dl_status status = dl_session_set_option(session.get(), option, Out(error));
    CHECK(status == DL_INVALID_ARGUMENT);
    CHECK(dl_error_status(error.get()) == status);
    return Text(dl_error_text(error.get()));
  };
  CHECK(refusal("-maxregcout=64") != "");
  CHECK(refusal("-arch=sm_12") == "Value 'sm_12' is not defined for option 'arch'");
  CHECK(refusal("-maxrregcount=many") == "'many': expected a number");
  CHECK(refusal("-maxrregcount") == "argument expected after '-maxrregcount'");
  CHECK(refusal("-g=1") == "no argument expected after '-g'");
  CHECK(refusal("-nonsense") == "Unknown option 'nonsense'");
  CHECK(refusal("a.cubin") == "'a.cubin' is not an option");
  CHECK(refusal("") == "'' is not an option");
  CHECK(refusal("--map=x") ==
        "--map is for the command alone; details of dl_session_options and dl_outcome_map are its "
        "counterpart");
  CHECK(refusal("-h") == "--help is for the command alone");
  CHECK(refusal("--ptx-backend=ptxas") == "--ptx-backend is an option of dl_toolchain_create");

  CError error;
  REQUIRE(dl_session_set_option(session.get(), "-relocatable-lnk", Out(error)) != DL_OK);
  const dl_diagnostics* said = dl_error_diagnostics(error.get());
  REQUIRE(dl_diagnostics_count(said) == 1);
  dl_diagnostic fatal = {};
  fatal.size = sizeof fatal;
  REQUIRE(dl_diagnostics_get(said, 0, &fatal) == DL_OK);
  CHECK(fatal.severity == DL_FATAL);
  CHECK(fatal.note_count > 0);  // what may have been meant

  REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
  CHECK(dl_session_set_option(session.get(), "-g", nullptr) == DL_FAILED_PRECONDITION);
  CHECK(dl_outcome_status(Link(session).get()) == DL_OK);
}

TEST_CASE("Options that contradict each other are refused by the first use", "[c_api]") {
  const CSession session = MakeSession(OptionsOf("sm_80"));
  REQUIRE(dl_session_set_option(session.get(), "-use-host-info", nullptr) == DL_OK);
  REQUIRE(dl_session_set_option(session.get(), "-ignore-host-info", nullptr) == DL_OK);
  CError error;
  COutcome outcome;
  CHECK(dl_session_link(session.get(), Out(outcome), Out(error)) == DL_INVALID_ARGUMENT);
  CHECK(outcome == nullptr);
  CHECK(Text(dl_error_text(error.get())).find("-use-host-info") != std::string::npos);

  dl_session_options options = OptionsOf("sm_80");
  const char* const texts[] = {"-emit-ptx"};
  options.options = texts;
  options.option_count = 1;
  CSession none;
  CHECK(dl_session_create(&options, Out(none), nullptr) == DL_INVALID_ARGUMENT);
  CHECK(none == nullptr);
}

TEST_CASE("Without a target no session is used", "[c_api]") {
  const CSession session = MakeSession(OptionsOf(nullptr));
  REQUIRE(session != nullptr);
  CHECK(Add(session, "a", KernelCubin()) == DL_INVALID_ARGUMENT);
  REQUIRE(dl_session_set_option(session.get(), "-arch=sm_80", nullptr) == DL_OK);
  CHECK(Add(session, "a", KernelCubin()) == DL_OK);

  const dl_session_options wrong = OptionsOf("sm_12");
  CSession none;
  CError error;
  CHECK(dl_session_create(&wrong, Out(none), Out(error)) == DL_INVALID_ARGUMENT);
  CHECK(none == nullptr);
  CHECK(Text(dl_error_text(error.get())).find("sm_12") != std::string::npos);
}

TEST_CASE("What is undefined stands in the diagnostics, field by field", "[c_api]") {
  const CSession session = MakeSession(OptionsOf("sm_80"));
  REQUIRE(Add(session, "a.cubin", KernelCubin()) == DL_OK);
  COutcome outcome;
  CError error;
  REQUIRE(dl_session_link(session.get(), Out(outcome), Out(error)) == DL_NOT_FOUND);
  REQUIRE(outcome != nullptr);
  CHECK(dl_outcome_status(outcome.get()) == DL_NOT_FOUND);
  CHECK(Text(dl_outcome_message(outcome.get())) == Text(dl_error_text(error.get())));
  CHECK(dl_outcome_cubin(outcome.get()).size == 0);
  const dl_diagnostics* said = dl_outcome_diagnostics(outcome.get());
  REQUIRE(dl_diagnostics_count(said) == 1);
  dl_diagnostic found = {};
  found.size = sizeof found;
  REQUIRE(dl_diagnostics_get(said, 0, &found) == DL_OK);
  CHECK(found.code == DL_UNDEFINED_REFERENCE);
  CHECK(found.severity == DL_ERROR);
  CHECK(Text(found.symbol) == "f");
  CHECK(Text(found.input) == "a.cubin");
  CHECK(Text(found.text) == "Undefined reference to 'f' in 'a.cubin'");
  CHECK(found.line == 0);
  CHECK(found.verbatim == 0);
  REQUIRE(found.note_count == 2);
  CHECK(Text(found.notes[0]) == "called by kernel in 'a.cubin'");
  CHECK(dl_diagnostics_get(said, 1, &found) == DL_OUT_OF_RANGE);
  CHECK(dl_diagnostics_get(said, 1, nullptr) == DL_INVALID_ARGUMENT);
  CString lines;
  REQUIRE(dl_diagnostics_render(said, "tool", Out(lines)) == DL_OK);
  CHECK(Text(dl_string_text(lines.get())) ==
        "tool error   : Undefined reference to 'f' in 'a.cubin'\n"
        "tool note    : called by kernel in 'a.cubin'\n"
        "tool note    : " +
            Text(found.notes[1]) + "\n");
  REQUIRE(dl_diagnostics_render(said, nullptr, Out(lines)) == DL_OK);
  CHECK(Text(dl_string_text(lines.get())).starts_with("devlink error"));

  // Further inputs mend it.
  REQUIRE(Add(session, "b.cubin", FunctionCubin()) == DL_OK);
  CHECK(dl_outcome_status(Link(session).get()) == DL_OK);
}

TEST_CASE("Inputs that cannot be used are refused one by one", "[c_api]") {
  const CSession session = MakeSession(OptionsOf("sm_80"));
  CError error;
  const auto added = [&](const char* name, const std::vector<std::uint8_t>& bytes) {
    return dl_session_add_bytes(session.get(), name, bytes.data(), bytes.size(), Out(error));
  };
  CHECK(added("cut", Cubin(KernelCubin().begin(), KernelCubin().begin() + 300)) ==
        DL_INVALID_ARGUMENT);
  CHECK(error != nullptr);
  CHECK(added("other", BuildCubin({.sm = 75})) == DL_FAILED_PRECONDITION);
  CHECK(dl_session_add_file(session.get(), "/nowhere/a.cubin", Out(error)) == DL_NOT_FOUND);
  CDiagnostics said;
  REQUIRE(dl_session_diagnostics(session.get(), Out(said)) == DL_OK);
  CHECK(dl_diagnostics_count(said.get()) == 3);
  // Each error has what is wrong with its input, and nothing else.
  REQUIRE(dl_diagnostics_count(dl_error_diagnostics(error.get())) == 1);
  dl_diagnostic found = {};
  found.size = sizeof found;
  REQUIRE(dl_diagnostics_get(dl_error_diagnostics(error.get()), 0, &found) == DL_OK);
  CHECK(found.code == DL_UNREADABLE_INPUT);
  CHECK(found.severity == DL_FATAL);
  CHECK(Text(found.input) == "/nowhere/a.cubin");
  CHECK(added("cut", Cubin(KernelCubin().begin(), KernelCubin().begin() + 300)) ==
        DL_INVALID_ARGUMENT);
  REQUIRE(dl_diagnostics_get(dl_error_diagnostics(error.get()), 0, &found) == DL_OK);
  CHECK(found.code == DL_MALFORMED_INPUT);
  CHECK(found.note_count > 0);
  const char* const paths[] = {"/nowhere/a", "/nowhere/b"};
  CHECK(dl_session_add_files(session.get(), paths, 2, Out(error)) == DL_NOT_FOUND);
  CHECK(dl_diagnostics_count(dl_error_diagnostics(error.get())) == 2);
  CHECK(added("good", FunctionCubin()) == DL_OK);
  CHECK(error == nullptr);
  CHECK(dl_outcome_status(Link(session).get()) == DL_OK);

  dl_session_options strict = OptionsOf("sm_80");
  strict.end_at_rejected_input = 1;
  const CSession ends = MakeSession(strict);
  CHECK(Add(ends, "other", BuildCubin({.sm = 75})) == DL_FAILED_PRECONDITION);
  CHECK(Add(ends, "good", FunctionCubin()) == DL_OK);
  CHECK(dl_outcome_status(Link(ends).get()) == DL_FAILED_PRECONDITION);

  const TemporaryDirectory folder;
  REQUIRE(WriteBytes(folder.path() / "large", FunctionCubin()));
  dl_session_options small = OptionsOf("sm_80");
  small.max_input_bytes = 100;
  const CSession bounded = MakeSession(small);
  CHECK(dl_session_add_file(bounded.get(), folder.File("large").c_str(), nullptr) ==
        DL_RESOURCE_EXHAUSTED);
  CHECK(Add(bounded, "large", FunctionCubin()) == DL_RESOURCE_EXHAUSTED);
  // It is not copied, nor even looked at.
  const dl_input huge = {"huge", FunctionCubin().data(), std::size_t{1} << 40};
  CHECK(dl_session_add_bytes(session.get(), huge.name, huge.data, huge.size, Out(error)) ==
        DL_RESOURCE_EXHAUSTED);
  CHECK(dl_session_add_cubin(session.get(), huge.name, huge.data, huge.size, nullptr) ==
        DL_RESOURCE_EXHAUSTED);
  CHECK(dl_session_add_all_bytes(session.get(), &huge, 1, nullptr) == DL_RESOURCE_EXHAUSTED);
  CHECK(Text(dl_error_text(error.get())).find("more than the limit of 4294967296") !=
        std::string::npos);
  CHECK(dl_outcome_status(Link(session).get()) == DL_OK);
  small.max_input_bytes = 0;
  small.max_memory_bytes = 100;
  CHECK(Add(MakeSession(small), "large", FunctionCubin()) == DL_RESOURCE_EXHAUSTED);
}

TEST_CASE("What is no device code is said to be none", "[c_api]") {
  const CSession session = MakeSession(OptionsOf("sm_80"));
  const std::string source(100, '/');
  CError error;
  REQUIRE(dl_session_add_bytes(session.get(), "k.cu", source.data(), source.size(), Out(error)) ==
          DL_OK);
  CHECK(error == nullptr);
  REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
  CDiagnostics said;
  REQUIRE(dl_session_diagnostics(session.get(), Out(said)) == DL_OK);
  const COutcome outcome = Link(session);
  CHECK(dl_outcome_status(outcome.get()) == DL_OK);
  for (const dl_diagnostics* list :
       {static_cast<const dl_diagnostics*>(said.get()), dl_outcome_diagnostics(outcome.get())}) {
    REQUIRE(dl_diagnostics_count(list) == 1);
    dl_diagnostic found = {};
    found.size = sizeof found;
    REQUIRE(dl_diagnostics_get(list, 0, &found) == DL_OK);
    CHECK(found.code == DL_NO_DEVICE_CODE);
    CHECK(found.severity == DL_INFO);
    CHECK(Text(found.input) == "k.cu");
  }
}

TEST_CASE("A copy goes its own way", "[c_api]") {
  CSession session = MakeSession(OptionsOf("sm_80"));
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  CSession copy;
  REQUIRE(dl_session_copy(session.get(), Out(copy), nullptr) == DL_OK);
  REQUIRE(Add(copy, "b", FunctionCubin()) == DL_OK);
  CHECK(dl_outcome_status(Link(session).get()) == DL_NOT_FOUND);
  session.reset();
  CHECK(dl_outcome_status(Link(copy).get()) == DL_OK);
}

TEST_CASE("The report of C has what that of C++ has", "[c_api]") {
  const LinkOutcome expected = LinkInCpp({});
  const COutcome outcome = Link(WithTwoInputs(OptionsOf("sm_80")));
  dl_report report = {};
  report.size = sizeof report;
  REQUIRE(dl_outcome_report(outcome.get(), &report) == DL_OK);
  REQUIRE(report.kernel_count == 1);
  CHECK(report.dead_function_count == expected.report.dead_functions.size());
  CHECK(report.input_bytes == expected.report.input_bytes);
  CHECK(report.output_bytes == expected.cubin.size());
  CHECK(report.input_count == 2);
  CHECK(report.is_whole_program == 0);
  dl_kernel kernel = {};
  kernel.size = sizeof kernel;
  REQUIRE(dl_outcome_kernel(outcome.get(), 0, &kernel) == DL_OK);
  CHECK(Text(kernel.name) == "kernel");
  CHECK(kernel.registers == expected.report.kernels[0].registers);
  CHECK(kernel.shared_bytes == expected.report.kernels[0].shared_bytes);
  CHECK(kernel.stack_bytes == static_cast<std::int64_t>(*expected.report.kernels[0].stack_bytes));
  CHECK(dl_outcome_kernel(outcome.get(), 1, &kernel) == DL_OUT_OF_RANGE);
  CHECK(dl_outcome_kernel(outcome.get(), 1, nullptr) == DL_INVALID_ARGUMENT);
  REQUIRE(report.dead_function_count == 1);
  CHECK(Text(dl_outcome_dead_function(outcome.get(), 0)) == "g");
  CHECK(dl_outcome_dead_function(outcome.get(), 1).size == 0);
  CString json;
  REQUIRE(dl_outcome_report_json(outcome.get(), Out(json)) == DL_OK);
  CHECK(Text(dl_string_text(json.get())) == ToJson(expected.report));
}

TEST_CASE("Libraries that -l names are linked behind all inputs", "[c_api]") {
  const TemporaryDirectory folder;
  REQUIRE(WriteBytes(folder.path() / "libf.a",
                     BuildArchive({{"f.o", MakeHostObject(FunctionCubin(), 80, {})}})));
  const CSession session = MakeSession(OptionsOf("sm_80"));
  const std::string place = "-L" + folder.path().string();
  REQUIRE(dl_session_set_option(session.get(), place.c_str(), nullptr) == DL_OK);
  REQUIRE(dl_session_set_option(session.get(), "-lf", nullptr) == DL_OK);
  REQUIRE(Add(session, "a", KernelCubin()) == DL_OK);
  for (int i = 0; i < 2; ++i) CHECK(dl_outcome_status(Link(session).get()) == DL_OK);
  const Cubin damaged(FunctionCubin().begin(), FunctionCubin().begin() + 300);

  REQUIRE(WriteBytes(folder.path() / "libf.a",
                     BuildArchive({{"f.o", MakeHostObject(damaged, 80, {})}})));
  const COutcome failed = Link(session);
  CHECK(dl_outcome_status(failed.get()) == DL_INVALID_ARGUMENT);
  CHECK(dl_diagnostics_count(dl_outcome_diagnostics(failed.get())) > 0);
}

}  // namespace
}  // namespace devlink::testing
