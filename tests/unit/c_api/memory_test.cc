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

void FailEach(const char* second_input, dl_status expected) {
  const Result whole = LinkOnce(second_input);
  REQUIRE(whole.status == expected);
  std::int64_t n = 0;
  for (;; ++n) {
    const std::int64_t live_before = memory.live;
    bool is_sound = false;
    memory.FailFrom(n);
    {
      const Result result = LinkOnce(second_input);
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
  FailEach("b", DL_OK);
  FailEach(nullptr, DL_NOT_FOUND);
}

}  // namespace
}  // namespace devlink::testing
