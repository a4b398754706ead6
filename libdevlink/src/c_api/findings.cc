// SPDX-License-Identifier: Apache-2.0
//
// Texts, diagnostics, errors, stops and time traces of the C interface.
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "c_api/objects.h"
#include "devlink/diagnostics.h"

namespace c_api = devlink::c_api;

extern "C" {

dl_text dl_string_text(const dl_string* string) {
  return string == nullptr ? c_api::kNoText : c_api::TextOf(string->text);
}

void dl_string_destroy(dl_string* string) { delete string; }

size_t dl_diagnostics_count(const dl_diagnostics* list) {
  return list == nullptr ? 0 : list->list.size();
}

dl_status dl_diagnostics_get(const dl_diagnostics* list, size_t index, dl_diagnostic* out) {
  if (list == nullptr || out == nullptr) return DL_INVALID_ARGUMENT;
  if (index >= list->list.size()) return DL_OUT_OF_RANGE;
  const devlink::Diagnostic& from = list->list[index];
  const dl_diagnostic filled = {
      .size = sizeof filled,
      .severity = static_cast<dl_severity>(from.severity),
      .code = static_cast<dl_diagnostic_code>(from.code),
      .text = c_api::TextOf(from.text),
      .symbol = c_api::TextOf(from.symbol),
      .input = c_api::TextOf(from.input),
      .notes = from.notes.empty() ? nullptr : list->notes.data() + list->first_notes[index],
      .note_count = from.notes.size(),
      .line = from.line,
      .verbatim = from.verbatim ? 1 : 0};
  return c_api::FillStruct(filled, out);
}

dl_status dl_diagnostics_render(const dl_diagnostics* list, const char* tool, dl_string** out) {
  return c_api::Create(out, nullptr, [&]() -> absl::StatusOr<std::unique_ptr<dl_string>> {
    if (list == nullptr) return c_api::Missing("the list of diagnostics");
    std::string lines;
    for (const devlink::Diagnostic& finding : list->list) {
      lines += devlink::RenderDiagnostic(finding, tool == nullptr ? "devlink" : tool);
    }
    return c_api::NewString(std::move(lines));
  });
}

dl_status dl_diagnostics_json(const dl_diagnostics* list, dl_string** out) {
  return c_api::Create(out, nullptr, [&]() -> absl::StatusOr<std::unique_ptr<dl_string>> {
    if (list == nullptr) return c_api::Missing("the list of diagnostics");
    std::string lines;
    for (const devlink::Diagnostic& finding : list->list) lines += devlink::ToJson(finding) + "\n";
    return c_api::NewString(std::move(lines));
  });
}

dl_status dl_diagnostics_sarif(const dl_diagnostics* list, dl_string** out) {
  return c_api::Create(out, nullptr, [&]() -> absl::StatusOr<std::unique_ptr<dl_string>> {
    if (list == nullptr) return c_api::Missing("the list of diagnostics");
    return c_api::NewString(devlink::ToSarif(list->list));
  });
}

void dl_diagnostics_destroy(dl_diagnostics* list) { delete list; }

dl_status dl_error_status(const dl_error* error) {
  return error == nullptr ? DL_OK : error->status;
}

dl_text dl_error_text(const dl_error* error) {
  return error == nullptr ? c_api::kNoText : c_api::TextOf(error->text);
}

const dl_diagnostics* dl_error_diagnostics(const dl_error* error) {
  return error == nullptr ? nullptr : &error->diagnostics;
}

void dl_error_destroy(dl_error* error) { delete error; }

dl_status dl_stop_create(dl_stop** out) {
  return c_api::Create(out, nullptr, []() -> absl::StatusOr<std::unique_ptr<dl_stop>> {
    return std::make_unique<dl_stop>();
  });
}

void dl_stop_request(dl_stop* stop) {
  if (stop != nullptr) stop->source.request_stop();
}

void dl_stop_destroy(dl_stop* stop) { delete stop; }

dl_status dl_time_trace_create(dl_time_trace** out) {
  return c_api::Create(out, nullptr, []() -> absl::StatusOr<std::unique_ptr<dl_time_trace>> {
    auto made = std::make_unique<dl_time_trace>();
    made->trace = std::make_shared<devlink::TimeTrace>();
    return made;
  });
}

dl_status dl_time_trace_json(const dl_time_trace* trace, dl_string** out) {
  return c_api::Create(out, nullptr, [&]() -> absl::StatusOr<std::unique_ptr<dl_string>> {
    if (trace == nullptr) return c_api::Missing("the time trace");
    return c_api::NewString(trace->trace->Json());
  });
}

void dl_time_trace_destroy(dl_time_trace* trace) { delete trace; }

}  // extern "C"
