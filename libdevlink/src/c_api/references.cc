// SPDX-License-Identifier: Apache-2.0
//
// What host code refers to, in the C interface: lists that callers give, and those of inputs.
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "c_api/objects.h"
#include "c_api/session.h"
#include "devlink/experimental/host_references.h"
#include "devlink/link_session.h"

namespace c_api = devlink::c_api;

struct dl_reference_lists {
  explicit dl_reference_lists(std::vector<devlink::InputReferences> found);

  std::vector<devlink::InputReferences> inputs;
  std::vector<const char*> names;  // of all lists of all inputs, in the order of kLists
  std::vector<dl_host_references> references;
};

namespace {

using devlink::HostReferences;

// A list in C++ and in C.
struct ListPair {
  HostReferences::List HostReferences::* ours;
  dl_name_list dl_host_references::* theirs;
};
constexpr std::array kLists = {
    ListPair{&HostReferences::kernels_external, &dl_host_references::kernels_external},
    ListPair{&HostReferences::kernels_internal, &dl_host_references::kernels_internal},
    ListPair{&HostReferences::variables_external, &dl_host_references::variables_external},
    ListPair{&HostReferences::variables_internal, &dl_host_references::variables_internal},
    ListPair{&HostReferences::constants_external, &dl_host_references::constants_external},
    ListPair{&HostReferences::constants_internal, &dl_host_references::constants_internal},
};

absl::StatusOr<HostReferences> ReadReferences(const dl_host_references* references) {
  DEVLINK_ASSIGN_OR_RETURN(const dl_host_references given, c_api::ReadStruct(references));
  HostReferences out;
  for (const ListPair& list : kLists) {
    const dl_name_list& from = given.*list.theirs;
    if (from.present == 0 && from.count != 0) {
      return absl::InvalidArgumentError("a list of names that is not present has names");
    }
    DEVLINK_ASSIGN_OR_RETURN((out.*list.ours).names,
                             c_api::StringsOf(from.names, from.count, "the names of a list"));
    (out.*list.ours).present = from.present != 0;
  }
  return out;
}

}  // namespace

dl_reference_lists::dl_reference_lists(std::vector<devlink::InputReferences> found)
    : inputs(std::move(found)) {
  for (const devlink::InputReferences& input : inputs) {
    for (const ListPair& list : kLists) {
      for (const std::string& name : (input.references.*list.ours).names) {
        names.push_back(name.c_str());
      }
    }
  }
  std::size_t next = 0;
  for (const devlink::InputReferences& input : inputs) {
    dl_host_references& out = references.emplace_back();
    out.size = sizeof out;
    for (const ListPair& list : kLists) {
      const HostReferences::List& from = input.references.*list.ours;
      const std::size_t count = from.names.size();
      out.*list.theirs = {.names = count == 0 ? nullptr : names.data() + next,
                          .count = count,
                          .present = from.present ? 1 : 0,
                          .reserved = 0};
      next += count;
    }
  }
}

extern "C" {

dl_status dl_session_add_cubin_with_references(dl_session* session, const char* name,
                                               const void* data, size_t size,
                                               const dl_host_references* references,
                                               dl_error** error) {
  return c_api::InSession(session, error, [&](devlink::LinkSession& to) -> absl::Status {
    DEVLINK_RETURN_IF_ERROR(c_api::CheckBytes(name, data, size));
    DEVLINK_ASSIGN_OR_RETURN(HostReferences given, ReadReferences(references));
    return to.AddCubin(name, c_api::SpanOf(data, size), std::move(given));
  });
}

dl_status dl_session_add_module_with_references(dl_session* session, const char* name,
                                                const dl_module* module,
                                                const dl_host_references* references,
                                                dl_error** error) {
  return c_api::InSession(session, error, [&](devlink::LinkSession& to) -> absl::Status {
    if (name == nullptr) return c_api::Missing("the name");
    if (module == nullptr) return c_api::Missing("the module");
    DEVLINK_ASSIGN_OR_RETURN(HostReferences given, ReadReferences(references));
    return to.AddModule(name, module->module, std::move(given));
  });
}

dl_status dl_session_add_host_references(dl_session* session, const dl_host_references* references,
                                         dl_error** error) {
  return c_api::InSession(session, error, [&](devlink::LinkSession& to) -> absl::Status {
    DEVLINK_ASSIGN_OR_RETURN(HostReferences given, ReadReferences(references));
    to.AddHostReferences(std::move(given));
    return absl::OkStatus();
  });
}

dl_status dl_session_host_references(const dl_session* session, dl_reference_lists** out) {
  return c_api::Create(out, nullptr, [&]() -> absl::StatusOr<std::unique_ptr<dl_reference_lists>> {
    if (session == nullptr) return c_api::Missing("the session");
    std::vector<devlink::InputReferences> found;
    if (session->session) found = session->session->host_references();
    return std::make_unique<dl_reference_lists>(std::move(found));
  });
}

size_t dl_reference_lists_count(const dl_reference_lists* lists) {
  return lists == nullptr ? 0 : lists->inputs.size();
}

dl_status dl_reference_lists_get(const dl_reference_lists* lists, size_t index, dl_text* input,
                                 dl_host_references* out) {
  if (input != nullptr) *input = c_api::kNoText;
  if (lists == nullptr || out == nullptr) return DL_INVALID_ARGUMENT;
  if (index >= lists->inputs.size()) return DL_OUT_OF_RANGE;
  if (input != nullptr) *input = c_api::TextOf(lists->inputs[index].input);
  return c_api::FillStruct(lists->references[index], out);
}

void dl_reference_lists_destroy(dl_reference_lists* lists) { delete lists; }

}  // extern "C"
