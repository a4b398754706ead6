// SPDX-License-Identifier: Apache-2.0
//
// Handles of the C interface that end with their scope, and small links.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "devlink/c/devlink.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {

template <auto kDestroy>
struct Destroyer {
  template <typename Object>
  void operator()(Object* object) const {
    kDestroy(object);
  }
};
template <typename Object, auto kDestroy>
using Handle = std::unique_ptr<Object, Destroyer<kDestroy>>;

using CString = Handle<dl_string, dl_string_destroy>;
using CDiagnostics = Handle<dl_diagnostics, dl_diagnostics_destroy>;
using CError = Handle<dl_error, dl_error_destroy>;
using CStop = Handle<dl_stop, dl_stop_destroy>;
using CModule = Handle<dl_module, dl_module_destroy>;
using CModuleInfo = Handle<dl_module_info, dl_module_info_destroy>;
using CPool = Handle<dl_pool, dl_pool_destroy>;
using CCache = Handle<dl_cache, dl_cache_destroy>;
using CToolchain = Handle<dl_toolchain, dl_toolchain_destroy>;
using CTimeTrace = Handle<dl_time_trace, dl_time_trace_destroy>;
using CReferenceLists = Handle<dl_reference_lists, dl_reference_lists_destroy>;
using CSession = Handle<dl_session, dl_session_destroy>;
using COutcome = Handle<dl_outcome, dl_outcome_destroy>;

// A place for what a call hands out: `call(..., Out(handle), ...)`.
template <typename Owner>
class Out {
 public:
  explicit Out(Owner& owner) : owner_(owner) {}
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  ~Out() { owner_.reset(object_); }
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator typename Owner::pointer *() { return &object_; }

 private:
  Owner& owner_;
  typename Owner::pointer object_ = nullptr;
};

inline std::string Text(dl_text text) { return {text.data, text.size}; }
inline std::vector<std::uint8_t> Bytes(dl_bytes bytes) {
  return {bytes.data, bytes.data + bytes.size};
}

inline const Cubin& KernelCubin() {
  static const Cubin cubin = BuildCubin(
      {.functions = {{.name = "kernel", .calls = {"f"}, .kernel = true, .static_shared = 64}}});
  return cubin;
}
inline const Cubin& FunctionCubin() {
  static const Cubin cubin = BuildCubin({.functions = {{.name = "f", .frame = 16}, {.name = "g"}}});
  return cubin;
}

inline dl_session_options OptionsOf(const char* target) {
  dl_session_options options = {};
  options.size = sizeof options;
  options.target = target;
  return options;
}

inline CSession MakeSession(const dl_session_options& options) {
  CSession session;
  dl_session_create(&options, Out(session), nullptr);
  return session;
}

inline dl_status Add(const CSession& session, const char* name, const Cubin& cubin) {
  return dl_session_add_bytes(session.get(), name, cubin.data(), cubin.size(), nullptr);
}

// The text of a call that hands out one: `TextFrom([&](auto out) { return dl_X(..., out); })`;
// empty where it fails.
template <typename Call>
std::string TextFrom(const Call& call) {
  CString text;
  call(static_cast<dl_string**>(Out(text)));
  return Text(dl_string_text(text.get()));
}

inline COutcome Link(const CSession& session) {
  COutcome outcome;
  dl_session_link(session.get(), Out(outcome), nullptr);
  return outcome;
}

}  // namespace devlink::testing
