// SPDX-License-Identifier: Apache-2.0
//
// What host code refers to, through the C interface: lists that are given, and those of inputs.
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "devlink/c/devlink.h"
#include "devlink/link_session.h"
#include "support/catch.h"
#include "support/host_object.h"
#include "unit/c_api/handles.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

// Kernels "one" and "two".
const Cubin& TwoKernels() {
  static const Cubin cubin =
      BuildCubin({.functions = {{.name = "one", .kernel = true}, {.name = "two", .kernel = true}}});
  return cubin;
}

// References to the kernels that these patterns name. Borrows them.
dl_host_references To(const std::vector<const char*>& kernels) {
  dl_host_references out = {};
  out.size = sizeof out;
  out.kernels_external = {
      .names = kernels.data(), .count = kernels.size(), .present = 1, .reserved = 0};
  return out;
}

std::vector<std::string> KernelsOf(const CSession& session) {
  const COutcome outcome = Link(session);
  dl_report report = {};
  report.size = sizeof report;
  REQUIRE(dl_outcome_report(outcome.get(), &report) == DL_OK);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < report.kernel_count; ++i) {
    dl_kernel kernel = {};
    kernel.size = sizeof kernel;
    REQUIRE(dl_outcome_kernel(outcome.get(), i, &kernel) == DL_OK);
    out.push_back(Text(kernel.name));
  }
  return out;
}

using Names = std::vector<std::string>;

TEST_CASE("Kernels that no host code refers to are left out", "[c_api]") {
  const Cubin& cubin = TwoKernels();
  std::vector<const char*> patterns = {"on*"};
  const CSession session = MakeSession(OptionsOf("sm_80"));
  const dl_host_references references = To(patterns);
  REQUIRE(dl_session_add_cubin_with_references(session.get(), "a", cubin.data(), cubin.size(),
                                               &references, nullptr) == DL_OK);
  patterns[0] = nullptr;  // the library has copied it
  CHECK(KernelsOf(session) == Names{"one"});
  // What other host code refers to counts as well.
  const std::vector<const char*> more = {"nothing", "two"};
  const dl_host_references of_host = To(more);
  REQUIRE(dl_session_add_host_references(session.get(), &of_host, nullptr) == DL_OK);
  CHECK(KernelsOf(session) == Names{"one", "two"});

  CPool pool;
  REQUIRE(dl_pool_create(nullptr, Out(pool), nullptr) == DL_OK);
  CModule module;
  REQUIRE(dl_pool_add_cubin(pool.get(), cubin.data(), cubin.size(), Out(module), nullptr) == DL_OK);
  const CSession other = MakeSession(OptionsOf("sm_80"));
  const std::vector<const char*> two = {"two"};
  const dl_host_references to_two = To(two);
  REQUIRE(dl_session_add_module_with_references(other.get(), "a", module.get(), &to_two, nullptr) ==
          DL_OK);
  CHECK(KernelsOf(other) == Names{"two"});
  // An input that says nothing keeps all.
  REQUIRE(Add(other, "b", BuildCubin({.functions = {{.name = "f"}}})) == DL_OK);
  CHECK(KernelsOf(other) == Names{"one", "two"});
}

TEST_CASE("Lists that make no sense are refused", "[c_api]") {
  const CSession session = MakeSession(OptionsOf("sm_80"));
  const auto refusal = [&](const dl_host_references& references) {
    CError error;
    CHECK(dl_session_add_host_references(session.get(), &references, Out(error)) ==
          DL_INVALID_ARGUMENT);
    return Text(dl_error_text(error.get()));
  };
  const std::vector<const char*> names = {"one", nullptr};
  CHECK(refusal(To(names)) == "one of the names of a list is NULL");
  dl_host_references references = To({});
  references.constants_internal.count = 1;
  CHECK(refusal(references) == "a list of names that is not present has names");
  references.constants_internal.present = 1;
  CHECK(refusal(references) == "the names of a list is NULL");
  references.size = 3;
  CHECK(refusal(references).find("size") != std::string::npos);

  // An earlier caller knows of kernels alone.
  const std::vector<const char*> one = {"one"};
  dl_host_references earlier = To(one);
  earlier.size = offsetof(dl_host_references, kernels_internal);
  earlier.variables_external.count = 99;
  CHECK(dl_session_add_host_references(session.get(), &earlier, nullptr) == DL_OK);
  CReferenceLists lists;
  REQUIRE(dl_session_host_references(session.get(), Out(lists)) == DL_OK);
  CHECK(dl_reference_lists_count(lists.get()) == 1);
}

TEST_CASE("Lists are told of, whoever gave them", "[c_api]") {
  CSession session = MakeSession(OptionsOf("sm_80"));
  REQUIRE(Add(session, "silent", TwoKernels()) == DL_OK);
  REQUIRE(Add(session, "a.o",
              MakeHostObject(FunctionCubin(), 80,
                             {{".nvHRKE", ListBytes({"on*", "tw*"})},
                              {".nvHRKI", ListBytes({})},
                              {".nvHRDE", ListBytes({"v"})}})) == DL_OK);
  const std::vector<const char*> names = {"two"};
  const dl_host_references given = To(names);
  REQUIRE(dl_session_add_host_references(session.get(), &given, nullptr) == DL_OK);
  CReferenceLists lists;
  REQUIRE(dl_session_host_references(session.get(), Out(lists)) == DL_OK);
  session.reset();
  REQUIRE(dl_reference_lists_count(lists.get()) == 3);
  const auto get = [&](std::size_t index, const char* input) {
    dl_text name = {};
    dl_host_references out = {};
    out.size = sizeof out;
    REQUIRE(dl_reference_lists_get(lists.get(), index, &name, &out) == DL_OK);
    CHECK(Text(name) == input);
    return out;
  };
  CHECK(get(0, "silent").kernels_external.present == 0);
  const dl_host_references found = get(1, "a.o");
  REQUIRE(found.kernels_external.count == 2);
  CHECK(found.kernels_external.names[1] == std::string("tw*"));
  CHECK(found.kernels_internal.present == 1);
  CHECK(found.kernels_internal.count == 0);
  REQUIRE(found.variables_external.count == 1);
  CHECK(found.variables_external.names[0] == std::string("v"));
  CHECK(found.constants_external.present == 0);
  CHECK(get(2, "").kernels_external.names[0] == std::string("two"));

  dl_text name = {"x", 1};
  dl_host_references out = {};
  out.size = sizeof out;
  CHECK(dl_reference_lists_get(lists.get(), 3, &name, &out) == DL_OUT_OF_RANGE);
  CHECK(dl_reference_lists_get(lists.get(), 3, &name, nullptr) == DL_INVALID_ARGUMENT);
  CHECK(name.size == 0);
  CHECK(dl_reference_lists_get(lists.get(), 0, nullptr, nullptr) == DL_INVALID_ARGUMENT);
  // What is told can be given.
  CHECK(dl_reference_lists_get(lists.get(), 1, nullptr, &out) == DL_OK);
  const CSession other = MakeSession(OptionsOf("sm_80"));
  CHECK(dl_session_add_host_references(other.get(), &out, nullptr) == DL_OK);

  const CSession none = MakeSession(OptionsOf(nullptr));
  REQUIRE(dl_session_host_references(none.get(), Out(lists)) == DL_OK);
  CHECK(dl_reference_lists_count(lists.get()) == 0);
}

}  // namespace
}  // namespace devlink::testing
