// SPDX-License-Identifier: Apache-2.0
#include "format/host_references.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace devlink::testing {
namespace {

using internal::FindList;
using internal::ReadHostReferenceList;

std::vector<std::string> TextsOf(const std::string& section) {
  const std::vector<std::uint8_t> bytes(section.begin(), section.end());
  const HostReferences::List list = ReadHostReferenceList(bytes);
  CHECK(list.present);
  return list.names;
}

using Texts = std::vector<std::string>;

TEST_CASE("a list of host references is read as nvlink reads it") {
  CHECK(TextsOf("").empty());
  CHECK(TextsOf(std::string("\0", 1)).empty());
  CHECK(TextsOf("x").empty());
  CHECK(TextsOf(std::string("\0\0", 2)) == Texts{"", ""});
  CHECK(TextsOf(std::string("foo\0bar\0", 8)) == Texts{"foo", "bar"});
  CHECK(TextsOf(std::string("foo\0bar", 7)) == Texts{"foo", "bar"});
  CHECK(TextsOf(std::string("\0foo\0", 5)) == Texts{"", "foo"});
}

TEST_CASE("each of the six sections has its list") {
  HostReferences references;
  CHECK(FindList(references, ".nvHRKE") == &references.kernels_external);
  CHECK(FindList(references, ".nvHRKI") == &references.kernels_internal);
  CHECK(FindList(references, ".nvHRDE") == &references.variables_external);
  CHECK(FindList(references, ".nvHRDI") == &references.variables_internal);
  CHECK(FindList(references, ".nvHRCE") == &references.constants_external);
  CHECK(FindList(references, ".nvHRCI") == &references.constants_internal);
  CHECK(FindList(references, ".nvHRK") == nullptr);
  CHECK(FindList(references, ".text") == nullptr);
}

}  // namespace
}  // namespace devlink::testing
