// SPDX-License-Identifier: Apache-2.0
#include "devlink/arch.h"

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace devlink {

namespace {

struct Known {
  std::uint16_t number;
  std::string_view variants;  // besides the plain one
};

// sm_NN names of the 13.x toolkits.
constexpr std::array kKnown = {
    Known{75, ""},    Known{80, ""},    Known{86, ""},    Known{87, ""},    Known{88, ""},
    Known{89, ""},    Known{90, "a"},   Known{100, "af"}, Known{103, "af"}, Known{107, "af"},
    Known{110, "af"}, Known{120, "af"}, Known{121, "af"}};

struct Pair {
  std::uint16_t member;
  std::uint16_t target;
};

// Code for one number that runs on another. sm_87 and sm_88 stand apart.
constexpr std::array kSassLinks = {Pair{80, 86}, Pair{80, 89}, Pair{86, 89}, Pair{100, 103},
                                   Pair{120, 121}};

// The later members of the families that compute_NNf stands for.
constexpr std::array kFamilies = {Pair{100, 103}, Pair{120, 121}};

}  // namespace

absl::StatusOr<Arch> Arch::Parse(std::string_view name) {
  const auto error = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("'", base::ToAbsl(name), "' is no architecture name such as sm_80 or sm_90a"));
  };
  constexpr std::string_view kPrefix = "sm_";
  if (!name.starts_with(kPrefix)) return error();
  for (const Known& known : kKnown) {
    const std::string plain = std::to_string(known.number);
    const std::string_view rest = name.substr(kPrefix.size());
    if (!rest.starts_with(plain)) continue;
    const std::string_view suffix = rest.substr(plain.size());
    if (suffix.empty()) return Arch{known.number, 0};
    if (suffix.size() == 1 && known.variants.find(suffix[0]) != std::string_view::npos) {
      return Arch{known.number, suffix[0]};
    }
  }
  return error();
}

std::string Arch::Name() const {
  std::string out = base::Cat({"sm_", std::to_string(number)});
  if (variant != 0) out.push_back(variant);
  return out;
}

bool SassLinksFor(Arch member, Arch target) {
  if (member.number == target.number) return true;
  if (member.variant == 'a') return false;
  return std::any_of(kSassLinks.begin(), kSassLinks.end(), [&](const Pair& pair) {
    return pair.member == member.number && pair.target == target.number;
  });
}

bool PtxCompilesFor(Arch member, Arch target) {
  if (member.variant == 'a') return member == target;
  if (member.variant == 0) return member.number <= target.number;
  if (member.number == target.number) return true;
  return std::any_of(kFamilies.begin(), kFamilies.end(), [&](const Pair& pair) {
    return pair.member == member.number && pair.target == target.number;
  });
}

bool IsLinkTarget(Arch target) { return target.number >= 75 && target.number <= 90; }

}  // namespace devlink
