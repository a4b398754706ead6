// SPDX-License-Identifier: Apache-2.0
//
// Memory that runs out at every allocation of a link through the C interface: an error code, and
// nothing is lost. In the program that replaces operator new.
#include <cstdint>
#include <vector>

#include "c_api/session.h"
#include "devlink/c/devlink.h"
#include "support/catch.h"
#include "support/failing_memory.h"
#include "unit/c_api/handles.h"

namespace devlink::testing {
namespace {

struct Result {
  dl_status status = DL_OK;
  std::vector<std::uint8_t> cubin;
};

// Every step may fail; the first that does is the result. Its own memory is not counted.
Result LinkOnce(const char* second_input) {
  Result out;
  const char* const texts[] = {"-v", "-suppress-arch-warning"};
  dl_session_options options = OptionsOf("sm_80");
  options.options = texts;
  options.option_count = 2;
  CPool pool;
  CSession session;
  COutcome outcome;
  CError error;
  CString json;
  CString lines;
  const auto step = [&](dl_status status) {
    if (out.status == DL_OK) out.status = status;
    return out.status == DL_OK;
  };
  if (!step(dl_pool_create(nullptr, Out(pool), nullptr))) return out;
  options.pool = pool.get();
  if (!step(dl_session_create(&options, Out(session), Out(error)))) return out;
  if (!step(dl_session_set_option(session.get(), "-maxrregcount=64", Out(error)))) return out;
  step(Add(session, "a", KernelCubin()));
  if (second_input != nullptr) step(Add(session, second_input, FunctionCubin()));
  step(dl_session_link(session.get(), Out(outcome), Out(error)));
  if (outcome == nullptr) return out;
  step(dl_diagnostics_render(dl_outcome_diagnostics(outcome.get()), "tool", Out(lines)));
  step(dl_outcome_report_json(outcome.get(), Out(json)));
  if (out.status == DL_OK) {
    memory.left = -1;
    out.cubin = Bytes(dl_outcome_cubin(outcome.get()));
  }
  return out;
}

// The same of a session that is asked for everything, and of an input that it refuses: the error of
// that may lack its diagnostics, never its status.
Result AskForAll(const char* second_input) {
  Result out;
  dl_session_options options = OptionsOf("sm_80");
  options.details = 1;
  options.call_graph_dot = 1;
  options.register_directory = "/a/working/directory/with/a/long/name";
  CTimeTrace trace;
  CSession session;
  CSession other;  // with references, and not linked
  COutcome outcome;
  CReferenceLists lists;
  CError error;
  CString text;
  const auto step = [&](dl_status status) {
    if (out.status == DL_OK) out.status = status;
    return out.status == DL_OK;
  };
  if (!step(dl_time_trace_create(Out(trace)))) return out;
  options.time_trace = trace.get();
  if (!step(dl_session_create(&options, Out(session), Out(error)))) return out;
  const char* const names[] = {"a_kernel_with_a_long_name*", "kernel"};
  dl_host_references references = {};
  references.size = sizeof references;
  references.kernels_external = {.names = names, .count = 2, .present = 1, .reserved = 0};
  const Cubin& cubin = KernelCubin();
  step(dl_session_copy(session.get(), Out(other), Out(error)));
  step(dl_session_add_cubin_with_references(other.get(), "a", cubin.data(), cubin.size(),
                                            &references, Out(error)));
  step(dl_session_host_references(other.get(), Out(lists)));
  step(Add(session, "a", cubin));
  if (dl_session_add_bytes(session.get(), "a text", "nothing", 7, Out(error)) !=
      DL_INVALID_ARGUMENT) {
    step(DL_RESOURCE_EXHAUSTED);
  }
  if (second_input != nullptr) step(Add(session, second_input, FunctionCubin()));
  step(dl_session_link(session.get(), Out(outcome), Out(error)));
  if (outcome == nullptr) return out;
  step(dl_outcome_report_html(outcome.get(), "title", Out(text), Out(error)));
  step(dl_outcome_map(outcome.get(), Out(text), Out(error)));
  step(dl_outcome_sizes(outcome.get(), Out(text), Out(error)));
  step(dl_outcome_why_live(outcome.get(), "kernel", Out(text), Out(error)));
  step(dl_diagnostics_json(dl_outcome_diagnostics(outcome.get()), Out(text)));
  step(dl_time_trace_json(trace.get(), Out(text)));
  if (out.status == DL_OK) {
    memory.left = -1;
    out.cubin = Bytes(dl_outcome_cubin(outcome.get()));
  }
  return out;
}

void FailEach(Result (*link)(const char*), const char* second_input, dl_status expected) {
  const Result whole = link(second_input);
  REQUIRE(whole.status == expected);
  std::int64_t n = 0;
  for (;; ++n) {
    const std::int64_t live_before = memory.live;
    bool is_sound = false;
    memory.FailFrom(n);
    {
      const Result result = link(second_input);
      memory.left = -1;
      is_sound = result.status == DL_RESOURCE_EXHAUSTED ||
                 (result.status == expected && result.cubin == whole.cubin);
    }
    if (!is_sound) FAIL_CHECK("allocation " << n << " makes another result");
    if (memory.live != live_before) {
      FAIL_CHECK("allocation " << n << ": " << memory.live - live_before << " leaked");
    }
    if (memory.failures == 0) break;
  }
  CHECK(n > 200);
}

TEST_CASE("Memory that runs out is a code of the C interface", "[exhaustion]") {
  FailEach(LinkOnce, "b", DL_OK);
  FailEach(LinkOnce, nullptr, DL_NOT_FOUND);
}

TEST_CASE("Memory that runs out while a session is asked for all is a code, too", "[exhaustion]") {
  FailEach(AskForAll, "b", DL_OK);
  FailEach(AskForAll, nullptr, DL_NOT_FOUND);
}

}  // namespace
}  // namespace devlink::testing
