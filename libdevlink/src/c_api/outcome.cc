// SPDX-License-Identifier: Apache-2.0
//
// Outcomes of the C interface.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "c_api/objects.h"
#include "c_api/session.h"
#include "devlink/link_report.h"

namespace c_api = devlink::c_api;

extern "C" {

dl_status dl_outcome_status(const dl_outcome* outcome) {
  return outcome == nullptr ? DL_INVALID_ARGUMENT : c_api::CodeOf(outcome->outcome.status);
}

dl_text dl_outcome_message(const dl_outcome* outcome) {
  return outcome == nullptr ? c_api::kNoText : c_api::TextOf(outcome->message);
}

dl_bytes dl_outcome_cubin(const dl_outcome* outcome) {
  if (outcome == nullptr) return {nullptr, 0};
  return {outcome->outcome.cubin.data(), outcome->outcome.cubin.size()};
}

dl_text dl_outcome_ptx(const dl_outcome* outcome) {
  return outcome == nullptr ? c_api::kNoText : c_api::TextOf(outcome->outcome.ptx);
}

const dl_diagnostics* dl_outcome_diagnostics(const dl_outcome* outcome) {
  return outcome == nullptr ? nullptr : &outcome->diagnostics;
}

dl_status dl_outcome_report(const dl_outcome* outcome, dl_report* out) {
  if (outcome == nullptr) return DL_INVALID_ARGUMENT;
  const devlink::LinkReport& report = outcome->outcome.report;
  const dl_report filled = {
      .size = sizeof filled,
      .kernel_count = report.kernels.size(),
      .dead_function_count = report.dead_functions.size(),
      .global_bytes = report.global_bytes,
      .constant_bytes = report.constant_bytes,
      .input_bytes = report.input_bytes,
      .output_bytes = report.output_bytes,
      .input_count = report.inputs,
      .is_whole_program = outcome->outcome.is_whole_program ? 1 : 0,
      .registered_count = outcome->outcome.registered.size(),
      .compiler_run_count = outcome->outcome.compiler_runs.size(),
      .inputs_accepted = outcome->outcome.inputs_accepted ? 1 : 0,
      .dropped_device_runtime = outcome->outcome.dropped_device_runtime ? 1 : 0};
  return c_api::FillStruct(filled, out);
}

dl_status dl_outcome_kernel(const dl_outcome* outcome, size_t index, dl_kernel* out) {
  if (outcome == nullptr || out == nullptr) return DL_INVALID_ARGUMENT;
  const auto& kernels = outcome->outcome.report.kernels;
  if (index >= kernels.size()) return DL_OUT_OF_RANGE;
  const devlink::KernelReport& kernel = kernels[index];
  const dl_kernel filled = {
      .size = sizeof filled,
      .name = c_api::TextOf(kernel.name),
      .registers = kernel.registers,
      .barriers = kernel.barriers,
      .stack_bytes = kernel.stack_bytes ? static_cast<std::int64_t>(*kernel.stack_bytes) : -1,
      .shared_bytes = kernel.shared_bytes,
      .parameter_bytes = kernel.parameter_bytes};
  return c_api::FillStruct(filled, out);
}

dl_text dl_outcome_dead_function(const dl_outcome* outcome, size_t index) {
  if (outcome == nullptr || index >= outcome->outcome.report.dead_functions.size()) {
    return c_api::kNoText;
  }
  return c_api::TextOf(outcome->outcome.report.dead_functions[index]);
}

dl_status dl_outcome_report_json(const dl_outcome* outcome, dl_string** out) {
  return c_api::Create(out, nullptr, [&]() -> absl::StatusOr<std::unique_ptr<dl_string>> {
    if (outcome == nullptr) return c_api::Missing("the outcome");
    return c_api::NewString(devlink::ToJson(outcome->outcome.report));
  });
}

void dl_outcome_destroy(dl_outcome* outcome) { delete outcome; }

}  // extern "C"
