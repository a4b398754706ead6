// SPDX-License-Identifier: Apache-2.0
#include "model/kernel_selection.h"

#include <string>
#include <string_view>
#include <vector>

#include "format/elf_cuda.h"
#include "support/catch.h"

namespace devlink::testing {
namespace {

using internal::KernelSelection;
using internal::MatchesPattern;

bool Wants(const KernelSelection& kernels, std::string_view name,
           std::uint8_t binding = format::kStbGlobal) {
  internal::Symbol symbol;
  symbol.name = name;
  symbol.binding = binding;
  return kernels.Wants(symbol);
}

HostReferences Lists(std::vector<std::string> external, std::vector<std::string> internal = {}) {
  HostReferences out;
  out.kernels_external = {.present = true, .names = std::move(external)};
  out.kernels_internal = {.present = true, .names = std::move(internal)};
  return out;
}

TEST_CASE("a pattern stands for whole names") {
  for (const std::string_view pattern : {"foo", "foo*", "*foo", "f*", "*", "**", "f*o*", "*o"}) {
    CHECK(MatchesPattern(pattern, "foo"));
  }
  for (const std::string_view pattern : {"fo", "oo", "fo?", "[f]oo", "", "foo*x", "f*x*o", "x*"}) {
    CHECK_FALSE(MatchesPattern(pattern, "foo"));
  }
  CHECK(MatchesPattern("", ""));
  CHECK(MatchesPattern("a*b*a*b", "aabbaabb"));
  CHECK_FALSE(MatchesPattern("a*b*a*b", "aabbaa"));
  // Stars by the dozen must not take exponential time.
  std::string stars;
  for (int i = 0; i < 60; ++i) stars += "a*";
  CHECK_FALSE(MatchesPattern(stars + "b", std::string(5000, 'a')));
}

TEST_CASE("lists of all inputs count, and each binding has its own") {
  const auto kernels = KernelSelection::ReferredTo({Lists({"va*"}, {"s"}), Lists({"vb"})});
  CHECK(Wants(kernels, "va"));
  CHECK(Wants(kernels, "va2", format::kStbWeak));
  CHECK(Wants(kernels, "vb"));
  CHECK_FALSE(Wants(kernels, "s"));
  CHECK(Wants(kernels, "s", format::kStbLocal));
  CHECK_FALSE(Wants(kernels, "va", format::kStbLocal));
  CHECK_FALSE(Wants(kernels, "vc"));
}

TEST_CASE("everything stays where one input says nothing, or none says anything") {
  CHECK(Wants(KernelSelection(), "k"));
  CHECK(Wants(KernelSelection::ReferredTo({Lists({"x"}), HostReferences()}), "k"));
  CHECK(Wants(KernelSelection::ReferredTo({Lists({}), Lists({})}), "k"));
  HostReferences others_only = Lists({"x"}, {"x"});
  others_only.kernels_external.present = false;
  CHECK(Wants(KernelSelection::ReferredTo({others_only}), "k"));
  // An empty text is a text.
  CHECK_FALSE(Wants(KernelSelection::ReferredTo({Lists({""})}), "k"));
  CHECK_FALSE(Wants(KernelSelection::ReferredTo({Lists({}, {"x"})}), "k"));
}

TEST_CASE("named kernels stay by any part of their names") {
  const auto kernels = KernelSelection::Containing({"oo", "b*r"});
  CHECK(Wants(kernels, "foo2"));
  CHECK(Wants(kernels, "xbazr", format::kStbLocal));
  CHECK_FALSE(Wants(kernels, "fo"));
  CHECK_FALSE(Wants(KernelSelection::Containing({}), "foo"));
}

}  // namespace
}  // namespace devlink::testing
