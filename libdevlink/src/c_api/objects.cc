// SPDX-License-Identifier: Apache-2.0
#include "c_api/objects.h"

#include <span>

#include "absl/strings/str_cat.h"

dl_diagnostics::dl_diagnostics(std::vector<devlink::Diagnostic> findings)
    : list(std::move(findings)) {
  for (const devlink::Diagnostic& finding : list) {
    first_notes.push_back(notes.size());
    for (const std::string& note : finding.notes) notes.push_back(devlink::c_api::TextOf(note));
  }
}

namespace devlink::c_api {

absl::Status Missing(std::string_view what) {
  return absl::InvalidArgumentError(base::Cat({what, " is NULL"}));
}

absl::StatusOr<std::vector<std::string>> StringsOf(const char* const* texts, std::size_t count,
                                                   std::string_view what) {
  if (texts == nullptr && count != 0) return Missing(what);
  std::vector<std::string> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return Missing(base::Cat({"one of ", what}));
    out.emplace_back(texts[i]);
  }
  return out;
}

absl::Status StatusOfCallback(dl_status status, std::string_view which) {
  if (status == DL_OK) return absl::OkStatus();
  const bool is_known = status > DL_OK && status <= DL_UNAUTHENTICATED;
  const auto code = is_known ? static_cast<absl::StatusCode>(status) : absl::StatusCode::kUnknown;
  return absl::Status(code, absl::StrCat("the callback ", base::ToAbsl(which), " returned ", status,
                                         " (", dl_status_name(status), ")"));
}

dl_status Fail(const absl::Status& status, dl_error** error) noexcept {
  if (error != nullptr) {
    base::Guard([&] {
      auto made = std::make_unique<dl_error>();
      made->status = CodeOf(status);
      made->text = std::string(status.message());
      *error = made.release();
      return absl::OkStatus();
    }).IgnoreError();
  }
  return CodeOf(status);
}

void Explain(dl_error** error, std::vector<Diagnostic> diagnostics) noexcept {
  if (error == nullptr || *error == nullptr) return;
  base::Guard([&] {
    (*error)->diagnostics = dl_diagnostics(std::move(diagnostics));
    return absl::OkStatus();
  }).IgnoreError();
}

absl::Status CheckStruct(const void* given, std::size_t known) {
  if (given == nullptr) return Missing("the struct of options");
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  // No struct ends within a field: their sizes are multiples of what the largest is aligned to.
  if (size < sizeof size || size > kMaxStruct || size % alignof(std::uint64_t) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the field size of a struct is ", size, "; it has to be its sizeof"));
  }
  if (size <= known) return absl::OkStatus();
  const std::span tail(static_cast<const char*>(given) + known, size - known);
  if (std::all_of(tail.begin(), tail.end(), [](char byte) { return byte == 0; })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("a struct has ", size, " bytes, of which devlink ",
                                                 dl_version(), " knows ", known,
                                                 ", and something is set behind them"));
}

}  // namespace devlink::c_api
