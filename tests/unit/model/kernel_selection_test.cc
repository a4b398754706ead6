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
using internal::PatternSet;

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

TEST_CASE("a set of patterns matches what one of them matches") {
  // All patterns and names of up to four letters of a small alphabet, in sets of seven.
  std::vector<std::string> patterns = {""};
  for (std::size_t i = 0; i < patterns.size() && patterns[i].size() < 4; ++i) {
    for (const char letter : {'a', 'b', '*'}) patterns.push_back(patterns[i] + letter);
  }
  std::vector<std::string> names;
  for (const std::string& pattern : patterns) {
    if (pattern.find('*') == std::string::npos) names.push_back(pattern + "ab");
    if (pattern.find('*') == std::string::npos) names.push_back(pattern);
  }
  std::size_t matched = 0;
  for (std::size_t first = 0; first < patterns.size(); first += 3) {
    PatternSet set;
    std::vector<std::string> taken;
    for (std::size_t i = 0; i < 7; ++i) {
      taken.push_back(patterns[(first + i * 17) % patterns.size()]);
      set.Add(taken.back());
    }
    for (const std::string& name : names) {
      bool expected = false;
      for (const std::string& pattern : taken) {
        expected = expected || MatchesPattern(pattern, name);
      }
      CAPTURE(name, taken);
      REQUIRE(set.Matches(name) == expected);
      matched += expected ? 1 : 0;
    }
  }
  CHECK(matched > 100);
}

TEST_CASE("a name is compared with few of many patterns that begin alike") {
  PatternSet parts;       // -kernels-used
  PatternSet file_local;  // what nvcc lists of static kernels
  for (int i = 0; i < 200000; ++i) {
    const std::string number = std::to_string(1000000 + i);
    parts.Add("*_kernel" + number + "*");
    file_local.Add("__nv_static_35__0_file_cu_*5space7kernel" + number + "iPf*");
  }
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(2000000 + i);
    const std::string name = "_Z5space_kernel" + number;
    const std::string local = "__nv_static_35__0_file_cu_abc_5space7kernel" + number + "iPf";
    CHECK(parts.Comparisons(name) == 0);
    CHECK(file_local.Comparisons(local) == 0);
  }
  CHECK(parts.Comparisons("x_kernel1000007y") == 1);
  CHECK(parts.Matches("x_kernel1000007y"));
  CHECK(file_local.Matches("__nv_static_35__0_file_cu_abc_5space7kernel1199999iPfS_"));
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
