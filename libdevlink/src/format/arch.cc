// SPDX-License-Identifier: Apache-2.0
#include "devlink/arch.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/guard.h"
#include "base/strings.h"
#include "format/sm_traits.h"

namespace devlink {

using format::ArchRelation;

namespace {

constexpr std::string_view kRealPrefix = "sm_";
constexpr std::string_view kVirtualPrefix = "compute_";
constexpr std::string_view kLtoPrefix = "lto_";

absl::StatusOr<Arch> ParseBehind(std::string_view prefix, std::string_view name) {
  const std::string_view rest = name.substr(std::min(prefix.size(), name.size()));
  if (name.starts_with(prefix)) {
    for (const format::SmTraits& row : format::AllSmTraits()) {
      const std::string plain = std::to_string(row.number);
      if (!rest.starts_with(plain)) continue;
      const std::string_view variant = rest.substr(plain.size());
      if (variant.empty()) return Arch{row.number, 0};
      if (variant.size() == 1 && row.variants.find(variant[0]) != std::string_view::npos) {
        return Arch{row.number, variant[0]};
      }
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", base::ToAbsl(name), "' is not the name of an architecture such as ",
                   base::ToAbsl(prefix), "80 or ", base::ToAbsl(prefix), "90a"));
}

}  // namespace

absl::StatusOr<Arch> Arch::Parse(std::string_view name) {
  return base::Guard([&]() -> absl::StatusOr<Arch> { return ParseBehind(kRealPrefix, name); });
}

absl::StatusOr<Arch> Arch::ParseVirtual(std::string_view name) {
  return base::Guard([&]() -> absl::StatusOr<Arch> { return ParseBehind(kVirtualPrefix, name); });
}

absl::StatusOr<Arch> Arch::ParseLto(std::string_view name) {
  return base::Guard([&]() -> absl::StatusOr<Arch> { return ParseBehind(kLtoPrefix, name); });
}

std::string Arch::Name() const { return base::Cat({kRealPrefix, format::NumberAndVariant(*this)}); }

std::string Arch::VirtualName() const {
  return base::Cat({kVirtualPrefix, format::NumberAndVariant(*this)});
}

bool SassLinksFor(Arch member, Arch target) {
  if (member.number == target.number) return true;
  return member.variant != 'a' && format::Holds(ArchRelation::kSassLinks, member, target);
}

bool PtxCompilesFor(Arch member, Arch target) {
  if (member.variant == 'a') return member == target;
  if (member.variant == 0) return member.number <= target.number;
  return member.number == target.number || format::Holds(ArchRelation::kFamily, member, target);
}

bool IsLinkTarget(Arch target) { return format::TraitsOf(target).number == target.number; }

}  // namespace devlink
