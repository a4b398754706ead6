// SPDX-License-Identifier: Apache-2.0
//
// What all functions of the C interface have in common: structs that grow, NULLs, codes; and
// modules, pools, caches and toolchains.
#include "c_api/objects.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "devlink/arch.h"
#include "devlink/c/devlink.h"
#include "devlink/nvlink_command.h"
#include "devlink/version.h"
#include "support/catch.h"
#include "support/process.h"
#include "unit/c_api/handles.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

TEST_CASE("Structs of earlier and later callers are taken, unknown fields are not", "[c_api]") {
  // A caller who knows nothing behind the target.
  dl_session_options earlier = OptionsOf("sm_80");
  std::memset(&earlier.options, 0xff, sizeof earlier - offsetof(dl_session_options, options));
  earlier.size = offsetof(dl_session_options, options);
  CHECK(MakeSession(earlier) != nullptr);

  struct Later {
    dl_session_options known;
    std::array<char, 24> more;
  };
  Later later = {.known = OptionsOf("sm_80"), .more = {}};
  later.known.size = sizeof later;
  CHECK(MakeSession(later.known) != nullptr);
  later.more[23] = 1;
  CSession session;
  CError error;
  CHECK(dl_session_create(&later.known, Out(session), Out(error)) == DL_INVALID_ARGUMENT);
  CHECK(session == nullptr);
  CHECK(Text(dl_error_text(error.get())).find("bytes") != std::string::npos);

  dl_session_options unset = OptionsOf("sm_80");
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t) - 1, std::size_t{1} << 40,
                                 offsetof(dl_session_options, target) + 4}) {  // half a pointer
    unset.size = size;
    CHECK(MakeSession(unset) == nullptr);
  }
}

TEST_CASE("Structs that are filled in get what they have room for", "[c_api]") {
  CPool pool;
  REQUIRE(dl_pool_create(nullptr, Out(pool), nullptr) == DL_OK);
  const Cubin& cubin = FunctionCubin();
  REQUIRE(dl_pool_add_cubin(pool.get(), cubin.data(), cubin.size(), nullptr, nullptr) == DL_OK);
  struct Later {
    dl_pool_use known;
    std::array<char, 8> more;
  } later;
  std::memset(&later, 0xff, sizeof later);
  later.known.size = sizeof later;
  CHECK(dl_pool_get_use(pool.get(), &later.known) == DL_OK);
  CHECK(later.known.size == sizeof later);
  CHECK(later.known.modules == 1);
  CHECK(later.known.misses == 1);
  CHECK(later.more == std::array<char, 8>{});

  dl_pool_use earlier;
  std::memset(&earlier, 0xff, sizeof earlier);
  earlier.size = offsetof(dl_pool_use, bytes);
  CHECK(dl_pool_get_use(pool.get(), &earlier) == DL_OK);
  CHECK(earlier.modules == 1);
  CHECK(earlier.bytes == ~std::uint64_t{0});  // not the caller's, as far as the library knows
  earlier.size = 0;
  CHECK(dl_pool_get_use(pool.get(), &earlier) == DL_INVALID_ARGUMENT);
}

// Everything that takes a handle or a place for a result.
TEST_CASE("NULL is refused where something is needed", "[c_api]") {
  const CSession session = MakeSession(OptionsOf("sm_80"));
  CPool pool;
  REQUIRE(dl_pool_create(nullptr, Out(pool), nullptr) == DL_OK);
  const dl_session_options options = OptionsOf("sm_80");
  CSession made;
  COutcome outcome;
  CError error;
  const std::vector<dl_status> statuses = {
      dl_session_create(nullptr, Out(made), nullptr),
      dl_session_create(&options, nullptr, nullptr),
      dl_session_copy(nullptr, Out(made), nullptr),
      dl_session_copy(session.get(), nullptr, nullptr),
      dl_session_set_option(nullptr, "-g", nullptr),
      dl_session_set_option(session.get(), nullptr, nullptr),
      dl_session_add_file(nullptr, "a", nullptr),
      dl_session_add_file(session.get(), nullptr, nullptr),
      dl_session_add_bytes(nullptr, "a", "", 0, nullptr),
      dl_session_add_bytes(session.get(), nullptr, "", 0, nullptr),
      dl_session_add_bytes(session.get(), "a", nullptr, 1, nullptr),
      dl_session_add_cubin(session.get(), "a", nullptr, 1, nullptr),
      dl_session_add_module(session.get(), "a", nullptr, nullptr),
      dl_session_add_files(session.get(), nullptr, 1, nullptr),
      dl_session_add_all_bytes(session.get(), nullptr, 1, nullptr),
      dl_session_link(nullptr, Out(outcome), nullptr),
      dl_session_link(session.get(), nullptr, nullptr),
      dl_session_link_to(session.get(), nullptr, Out(outcome), Out(error)),
      dl_session_diagnostics(session.get(), nullptr),
      dl_session_diagnostics(nullptr, nullptr),
      dl_pool_create(nullptr, nullptr, nullptr),
      dl_pool_add_cubin(nullptr, "", 0, nullptr, nullptr),
      dl_pool_add_cubin(pool.get(), nullptr, 1, nullptr, nullptr),
      dl_pool_remove(pool.get(), nullptr),
      dl_pool_remove(nullptr, nullptr),
      dl_pool_clear(nullptr),
      dl_pool_get_use(nullptr, nullptr),
      dl_pool_get_use(pool.get(), nullptr),
      dl_module_inspect(nullptr, nullptr),
      dl_module_info_summary(nullptr, nullptr),
      dl_module_info_function(nullptr, 0, nullptr),
      dl_module_info_symbol(nullptr, 0, nullptr),
      dl_cache_create_in_memory(0, nullptr, nullptr),
      dl_cache_create_in_directory(nullptr, nullptr, nullptr),
      dl_toolchain_create(nullptr, nullptr, nullptr),
      dl_toolchain_get_use(nullptr, nullptr),
      dl_stop_create(nullptr),
      dl_cache_create(nullptr, nullptr, nullptr),
      dl_receiver_set_bytes(nullptr, "", 0),
      dl_receiver_set_file(nullptr, "", 0, 0, 0),
      dl_receiver_add_input(nullptr, "a", "", 0),
      dl_diagnostics_get(nullptr, 0, nullptr),
      dl_diagnostics_render(nullptr, "a", nullptr),
      dl_outcome_status(nullptr),
      dl_outcome_report(nullptr, nullptr),
      dl_outcome_kernel(nullptr, 0, nullptr),
      dl_outcome_report_json(nullptr, nullptr)};
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    CAPTURE(i);
    CHECK(statuses[i] == DL_INVALID_ARGUMENT);
  }
  CHECK(made == nullptr);
  CHECK(outcome == nullptr);
  CHECK(Text(dl_error_text(error.get())) == "the struct of options is NULL");
}

TEST_CASE("NULL is refused where results of links are asked for", "[c_api]") {
  const CSession session = MakeSession(OptionsOf("sm_80"));
  dl_host_references references = {};
  references.size = sizeof references;
  const std::vector<dl_status> statuses = {
      dl_diagnostics_json(nullptr, nullptr),
      dl_diagnostics_sarif(nullptr, nullptr),
      dl_time_trace_create(nullptr),
      dl_time_trace_json(nullptr, nullptr),
      dl_session_add_host_references(session.get(), nullptr, nullptr),
      dl_session_add_host_references(nullptr, &references, nullptr),
      dl_session_add_cubin_with_references(session.get(), "a", "", 0, nullptr, nullptr),
      dl_session_add_cubin_with_references(session.get(), nullptr, "", 0, &references, nullptr),
      dl_session_add_cubin_with_references(session.get(), "a", nullptr, 1, &references, nullptr),
      dl_session_add_module_with_references(session.get(), "a", nullptr, &references, nullptr),
      dl_session_host_references(nullptr, nullptr),
      dl_session_host_references(session.get(), nullptr),
      dl_reference_lists_get(nullptr, 0, nullptr, nullptr),
      dl_outcome_map(nullptr, nullptr, nullptr),
      dl_outcome_sizes(nullptr, nullptr, nullptr),
      dl_outcome_report_html(nullptr, nullptr, nullptr, nullptr),
      dl_outcome_why_live(nullptr, nullptr, nullptr, nullptr),
      dl_outcome_why_input(nullptr, nullptr, nullptr, nullptr),
      dl_outcome_why_registers(nullptr, nullptr, nullptr, nullptr),
      dl_outcome_compiler_run(nullptr, 0, nullptr),
      dl_outcome_registered_input(nullptr, 0, nullptr),
      dl_outcome_register_file(nullptr, nullptr, nullptr)};
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    CAPTURE(i);
    CHECK(statuses[i] == DL_INVALID_ARGUMENT);
  }
  CReferenceLists lists;
  REQUIRE(dl_session_host_references(session.get(), Out(lists)) == DL_OK);
  CHECK(dl_reference_lists_count(lists.get()) == 0);
}

TEST_CASE("Nothing has nothing, and can be destroyed", "[c_api]") {
  CHECK(dl_diagnostics_count(nullptr) == 0);
  CHECK(dl_error_status(nullptr) == DL_OK);
  CHECK(dl_error_diagnostics(nullptr) == nullptr);
  CHECK(dl_outcome_diagnostics(nullptr) == nullptr);
  CHECK(dl_outcome_cubin(nullptr).size == 0);
  for (const dl_text text :
       {dl_error_text(nullptr), dl_string_text(nullptr), dl_outcome_message(nullptr),
        dl_outcome_ptx(nullptr), dl_outcome_dead_function(nullptr, 0),
        dl_outcome_call_graph_dot(nullptr)}) {
    REQUIRE(text.data != nullptr);
    CHECK(text.size == 0);
  }
  CHECK(dl_reference_lists_count(nullptr) == 0);
  CHECK(dl_outcome_keeps_register_file(nullptr, nullptr, 0) == 0);
  dl_stop_request(nullptr);
  dl_work_run(nullptr, 0);
  dl_time_trace_destroy(nullptr);
  dl_reference_lists_destroy(nullptr);
  dl_string_destroy(nullptr);
  dl_diagnostics_destroy(nullptr);
  dl_error_destroy(nullptr);
  dl_stop_destroy(nullptr);
  dl_module_destroy(nullptr);
  dl_module_info_destroy(nullptr);
  dl_pool_destroy(nullptr);
  dl_cache_destroy(nullptr);
  dl_toolchain_destroy(nullptr);
  dl_session_destroy(nullptr);
  dl_outcome_destroy(nullptr);
}

TEST_CASE("Constants are named", "[c_api]") {
  CHECK(Version() == dl_version());
  CHECK(std::string(dl_status_name(DL_OK)) == "OK");
  CHECK(std::string(dl_status_name(DL_RESOURCE_EXHAUSTED)) == "RESOURCE_EXHAUSTED");
  CHECK(std::string(dl_status_name(DL_UNAUTHENTICATED)) == "UNAUTHENTICATED");
  CHECK(std::string(dl_status_name(17)) == "UNKNOWN");
  CHECK(std::string(dl_status_name(-1)) == "UNKNOWN");
  std::set<std::string> targets;
  for (std::size_t i = 0; i < dl_target_count(); ++i) {
    const std::string name = dl_target_name(i);
    CAPTURE(name);
    targets.insert(name);
    const auto arch = Arch::Parse(name);
    REQUIRE(arch.ok());
    CHECK(IsLinkTarget(*arch));
  }
  CHECK(targets.size() == dl_target_count());
  CHECK(targets.contains("sm_90a"));
  CHECK(dl_target_name(dl_target_count()) == nullptr);
  std::size_t variables = 0;
  while (dl_tool_variable(variables) != nullptr) ++variables;
  CHECK(variables == ToolVariables().size());
}

TEST_CASE("A pool gives a module to whoever has its bytes", "[c_api]") {
  dl_pool_options options = {};
  options.size = sizeof options;
  options.max_bytes = 1 << 20;
  CPool pool;
  REQUIRE(dl_pool_create(&options, Out(pool), nullptr) == DL_OK);
  const Cubin& cubin = KernelCubin();
  CModule module;
  CModule same;
  REQUIRE(dl_pool_add_cubin(pool.get(), cubin.data(), cubin.size(), Out(module), nullptr) == DL_OK);
  REQUIRE(dl_pool_add_cubin(pool.get(), cubin.data(), cubin.size(), Out(same), nullptr) == DL_OK);
  CHECK(module->module == same->module);
  CError error;
  CHECK(dl_pool_add_cubin(pool.get(), cubin.data(), 100, nullptr, Out(error)) ==
        DL_INVALID_ARGUMENT);
  CHECK(dl_error_text(error.get()).size > 0);

  // A session with the pool finds it, and keeps it when the pool is gone.
  dl_session_options with_pool = OptionsOf("sm_80");
  with_pool.pool = pool.get();
  const CSession session = MakeSession(with_pool);
  REQUIRE(Add(session, "a", cubin) == DL_OK);
  dl_pool_use use = {};
  use.size = sizeof use;
  REQUIRE(dl_pool_get_use(pool.get(), &use) == DL_OK);
  CHECK(use.hits == 2);
  CHECK(use.bytes == cubin.size());
  CHECK(dl_pool_remove(pool.get(), module.get()) == DL_OK);
  CHECK(dl_pool_remove(pool.get(), module.get()) == DL_NOT_FOUND);
  CHECK(dl_pool_clear(pool.get()) == DL_OK);
  pool.reset();
  REQUIRE(Add(session, "b", FunctionCubin()) == DL_OK);
  CHECK(dl_outcome_status(Link(session).get()) == DL_OK);
}

TEST_CASE("A module tells what is in it", "[c_api]") {
  CPool pool;
  REQUIRE(dl_pool_create(nullptr, Out(pool), nullptr) == DL_OK);
  const Cubin& cubin = KernelCubin();
  CModule module;
  REQUIRE(dl_pool_add_cubin(pool.get(), cubin.data(), cubin.size(), Out(module), nullptr) == DL_OK);
  CModuleInfo info;
  REQUIRE(dl_module_inspect(module.get(), Out(info)) == DL_OK);
  module.reset();
  pool.reset();
  dl_module_summary summary = {};
  summary.size = sizeof summary;
  REQUIRE(dl_module_info_summary(info.get(), &summary) == DL_OK);
  CHECK(Text(summary.target) == "sm_80");
  CHECK(summary.toolkit == 130);
  CHECK(summary.is_relocatable == 1);
  CHECK(summary.bytes == cubin.size());
  REQUIRE(summary.function_count == 1);
  dl_function function = {};
  function.size = sizeof function;
  REQUIRE(dl_module_info_function(info.get(), 0, &function) == DL_OK);
  CHECK(Text(function.name) == "kernel");
  CHECK(function.is_kernel == 1);
  CHECK(function.registers == 8);
  CHECK(dl_module_info_function(info.get(), 1, &function) == DL_OUT_OF_RANGE);
  CHECK(dl_module_info_function(info.get(), 1, nullptr) == DL_INVALID_ARGUMENT);
  bool found = false;
  for (std::size_t i = 0; i < summary.symbol_count; ++i) {
    dl_symbol symbol = {};
    symbol.size = sizeof symbol;
    REQUIRE(dl_module_info_symbol(info.get(), i, &symbol) == DL_OK);
    if (Text(symbol.name) != "f") continue;
    found = true;
    CHECK(symbol.is_defined == 0);
    CHECK(symbol.binding == DL_BINDING_GLOBAL);
  }
  CHECK(found);
  dl_symbol symbol = {};
  symbol.size = sizeof symbol;
  CHECK(dl_module_info_symbol(info.get(), summary.symbol_count, &symbol) == DL_OUT_OF_RANGE);
  CHECK(dl_module_info_symbol(info.get(), summary.symbol_count, nullptr) == DL_INVALID_ARGUMENT);
}

TEST_CASE("A toolchain is found where the caller says, and nowhere else", "[c_api]") {
  const std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n";
  const auto linked = [&](dl_toolchain* tools) {
    dl_session_options options = OptionsOf("sm_80");
    options.toolchain = tools;
    const CSession session = MakeSession(options);
    CHECK(dl_session_add_bytes(session.get(), "a.ptx", text.data(), text.size(), nullptr) == DL_OK);
    return Link(session);
  };
  CHECK(dl_outcome_status(linked(nullptr).get()) == DL_NOT_FOUND);
  CToolchain none;
  REQUIRE(dl_toolchain_create(nullptr, Out(none), nullptr) == DL_OK);
  CHECK(dl_outcome_status(linked(none.get()).get()) == DL_NOT_FOUND);

  CCache cache;
  REQUIRE(dl_cache_create_in_memory(0, Out(cache), nullptr) == DL_OK);
  dl_toolchain_options options = {};
  options.size = sizeof options;
  const TemporaryDirectory folder;
  const std::string place = folder.path().string();
  const char* const backend[] = {"--ptx-backend=ptxas"};
  const char* const variables[] = {"NVVM_IR_VER_CHK=0"};
  options.ptxas = "/nowhere/ptxas";
  options.temporary = place.c_str();
  options.cache = cache.get();
  options.options = backend;
  options.option_count = 1;
  options.variables = variables;
  options.variable_count = 1;
  CToolchain tools;
  REQUIRE(dl_toolchain_create(&options, Out(tools), nullptr) == DL_OK);
  cache.reset();
  const COutcome missing = linked(tools.get());
  CHECK(dl_outcome_status(missing.get()) != DL_OK);
  CHECK(Text(dl_outcome_message(missing.get())).find("/nowhere/ptxas") != std::string::npos);
  dl_toolchain_use use = {};
  use.size = sizeof use;
  REQUIRE(dl_toolchain_get_use(tools.get(), &use) == DL_OK);
  CHECK(use.tools_opened == 0);
  CHECK(use.cache_faults == 0);

  const char* const wrong[] = {"-g"};
  options.options = wrong;
  CError error;
  CHECK(dl_toolchain_create(&options, Out(tools), Out(error)) == DL_INVALID_ARGUMENT);
  CHECK(tools == nullptr);
  CHECK(Text(dl_error_text(error.get())) == "--debug does not choose a tool");
}

TEST_CASE("A cache is a directory that can be made", "[c_api]") {
  const TemporaryDirectory folder;
  const std::string path = (folder.path() / "cache").string();
  dl_directory_cache_options options = {};
  options.size = sizeof options;
  options.path = path.c_str();
  options.max_age_seconds = ~std::uint64_t{0};
  CCache cache;
  CHECK(dl_cache_create_in_directory(&options, Out(cache), nullptr) == DL_OK);
  CHECK(cache != nullptr);
  options.path = "/proc/nowhere";
  CError error;
  CHECK(dl_cache_create_in_directory(&options, Out(cache), Out(error)) != DL_OK);
  CHECK(cache == nullptr);
  CHECK(dl_error_text(error.get()).size > 0);
}

}  // namespace
}  // namespace devlink::testing
