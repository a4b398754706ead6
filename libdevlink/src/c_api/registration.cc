// SPDX-License-Identifier: Apache-2.0
//
// What a link of the C interface leaves for others: the register file, runs of compilers, the call
// graph.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "c_api/objects.h"
#include "c_api/session.h"
#include "devlink/experimental/time_trace.h"
#include "devlink/link_session.h"

namespace c_api = devlink::c_api;

extern "C" {

dl_text dl_outcome_call_graph_dot(const dl_outcome* outcome) {
  if (outcome == nullptr || !outcome->outcome.call_graph_dot) return c_api::kNoText;
  return c_api::TextOf(*outcome->outcome.call_graph_dot);
}

dl_status dl_outcome_compiler_run(const dl_outcome* outcome, size_t index, dl_compiler_run* out) {
  if (outcome == nullptr || out == nullptr) return DL_INVALID_ARGUMENT;
  if (index >= outcome->outcome.compiler_runs.size()) return DL_OUT_OF_RANGE;
  const devlink::CompilerRun& run = outcome->outcome.compiler_runs[index];
  const dl_compiler_run filled = {.size = sizeof filled,
                                  .compiler = c_api::TextOf(run.compiler),
                                  .source = c_api::TextOf(run.source),
                                  .input = c_api::TextOf(run.input),
                                  .output = c_api::TextOf(run.output),
                                  .nanoseconds = static_cast<std::uint64_t>(run.time.count())};
  return c_api::FillStruct(filled, out);
}

dl_status dl_outcome_registered_input(const dl_outcome* outcome, size_t index,
                                      dl_registered_input* out) {
  if (outcome == nullptr || out == nullptr) return DL_INVALID_ARGUMENT;
  if (index >= outcome->outcome.registered.size()) return DL_OUT_OF_RANGE;
  const devlink::RegisteredInput& input = outcome->outcome.registered[index];
  const dl_registered_input filled = {
      .size = sizeof filled,
      .name = c_api::TextOf(input.name),
      .ids = input.ids.empty() ? nullptr : outcome->ids.data() + outcome->first_ids[index],
      .id_count = input.ids.size(),
      .left_out = input.left_out ? 1 : 0,
      .reserved = 0};
  return c_api::FillStruct(filled, out);
}

dl_status dl_outcome_register_file(const dl_outcome* outcome, dl_string** out, dl_error** error) {
  return c_api::Create(out, error, [&]() -> absl::StatusOr<std::unique_ptr<dl_string>> {
    if (outcome == nullptr) return c_api::Missing("the outcome");
    if (!outcome->register_directory) {
      return absl::FailedPreconditionError(
          "register_directory of dl_session_options does not ask for a register file");
    }
    if (!outcome->outcome.inputs_accepted) {
      return absl::FailedPreconditionError("an input was in error; the diagnostics say why");
    }
    return c_api::NewString(
        devlink::RegisterFileText(outcome->outcome, *outcome->register_directory));
  });
}

int32_t dl_outcome_keeps_register_file(const dl_outcome* outcome, const void* existing,
                                       size_t size) {
  bool keeps = false;
  c_api::Run(nullptr, [&]() -> absl::Status {
    if (outcome == nullptr || existing == nullptr) return absl::OkStatus();
    keeps = devlink::KeepsRegisterFile(outcome->outcome,
                                       std::string(static_cast<const char*>(existing), size));
    return absl::OkStatus();
  });
  return keeps ? 1 : 0;
}

}  // extern "C"
