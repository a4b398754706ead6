// SPDX-License-Identifier: Apache-2.0
//
// What the handles of devlink/c/devlink.h are, and what all its functions have in common: errors,
// structs that grow, texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/guard.h"
#include "base/strings.h"
#include "devlink/c/devlink.h"
#include "devlink/diagnostics.h"
#include "devlink/experimental/compile_cache.h"
#include "devlink/experimental/time_trace.h"
#include "devlink/module.h"
#include "devlink/toolchain.h"

struct dl_string {
  std::string text;
};

struct dl_diagnostics {
  dl_diagnostics() = default;
  explicit dl_diagnostics(std::vector<devlink::Diagnostic> findings);
  dl_diagnostics(const dl_diagnostics&) = delete;
  dl_diagnostics& operator=(const dl_diagnostics&) = delete;
  dl_diagnostics(dl_diagnostics&&) noexcept = default;
  dl_diagnostics& operator=(dl_diagnostics&&) noexcept = default;

  std::vector<devlink::Diagnostic> list;
  std::vector<dl_text> notes;            // of all findings, in their order
  std::vector<std::size_t> first_notes;  // where those of each begin
};

struct dl_error {
  dl_status status = DL_OK;
  std::string text;
  dl_diagnostics diagnostics;
};

struct dl_time_trace {
  std::shared_ptr<devlink::TimeTrace> trace;
};

struct dl_stop {
  std::stop_source source;
};
struct dl_module {
  devlink::ModuleRef module;
};
struct dl_module_info {
  devlink::ModuleInfo info;
  std::string target;
};
struct dl_pool {
  std::shared_ptr<devlink::ModulePool> pool;
};
struct dl_cache {
  std::shared_ptr<devlink::CacheStore> cache;
};
struct dl_toolchain {
  std::shared_ptr<devlink::Toolchain> toolchain;
};

namespace devlink::c_api {

// ---- Texts ----

inline constexpr dl_text kNoText = {"", 0};
inline dl_text TextOf(const std::string& text) { return {text.c_str(), text.size()}; }
inline std::string StringOf(const char* text) { return text == nullptr ? "" : text; }
inline std::unique_ptr<dl_string> NewString(std::string text) {
  return std::make_unique<dl_string>(dl_string{std::move(text)});
}

// InvalidArgument where one is missing among them.
absl::StatusOr<std::vector<std::string>> StringsOf(const char* const* texts, std::size_t count,
                                                   std::string_view what);
absl::Status Missing(std::string_view what);

// ---- Statuses and errors ----

inline dl_status CodeOf(const absl::Status& status) {
  return static_cast<dl_status>(status.code());
}
// Of a callback that returned `status`.
absl::Status StatusOfCallback(dl_status status, std::string_view which);

// Puts an error where the caller wants one, unless there is no memory for it.
dl_status Fail(const absl::Status& status, dl_error** error) noexcept;
// Gives diagnostics to the error that is there, if any.
void Explain(dl_error** error, std::vector<Diagnostic> diagnostics) noexcept;

// Runs what a function does; nothing of what it throws leaves. `work` returns an absl::Status.
template <typename Work>
dl_status Run(dl_error** error, Work&& work) noexcept {
  if (error != nullptr) *error = nullptr;
  const absl::Status status = base::Guard(std::forward<Work>(work));
  return status.ok() ? DL_OK : Fail(status, error);
}

// The same for what makes an object: `make` returns a StatusOr of a unique_ptr to it.
template <typename Object, typename Make>
dl_status Create(Object** out, dl_error** error, Make&& make) noexcept {
  if (out != nullptr) *out = nullptr;
  return Run(error, [&]() -> absl::Status {
    if (out == nullptr) return Missing("the place for the result");
    absl::StatusOr<std::unique_ptr<Object>> made = make();
    if (made.ok()) *out = made->release();
    return made.status();
  });
}

// ---- Structs that grow ----

// Nobody's struct is larger; a size that was never set is.
inline constexpr std::size_t kMaxStruct = 4096;

absl::Status CheckStruct(const void* given, std::size_t known);

// A struct of a caller that was compiled with an earlier or a later header.
template <typename Struct>
absl::StatusOr<Struct> ReadStruct(const Struct* given) {
  if (absl::Status checked = CheckStruct(given, sizeof(Struct)); !checked.ok()) return checked;
  Struct out{};
  std::memcpy(&out, given, std::min(given->size, sizeof(Struct)));
  out.size = sizeof(Struct);
  return out;
}

// Fills in as much as the caller's struct has room for.
template <typename Struct>
dl_status FillStruct(Struct from, Struct* to) noexcept {
  if (to == nullptr || to->size < sizeof to->size || to->size > kMaxStruct ||
      to->size % alignof(Struct) != 0) {
    return DL_INVALID_ARGUMENT;
  }
  const std::size_t size = to->size;
  from.size = size;
  std::memset(to, 0, size);
  std::memcpy(to, &from, std::min(size, sizeof(Struct)));
  return DL_OK;
}

}  // namespace devlink::c_api
