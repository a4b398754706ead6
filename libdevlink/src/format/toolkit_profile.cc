// SPDX-License-Identifier: Apache-2.0
#include "devlink/toolkit_profile.h"

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/guard.h"
#include "base/strings.h"

namespace devlink {

namespace {

// By minor number: what --version of nvlink and ptxas prints in the newest patch of each release.
struct ToolTexts {
  std::string_view version;
  std::string_view build;
};
constexpr std::array kToolTexts = {ToolTexts{"Cuda compilation tools, release 13.0, V13.0.88",
                                             "Build cuda_13.0.r13.0/compiler.36424714_0"},
                                   ToolTexts{"Cuda compilation tools, release 13.1, V13.1.115",
                                             "Build cuda_13.1.r13.1/compiler.37061995_0"},
                                   ToolTexts{"Cuda compilation tools, release 13.2, V13.2.86",
                                             "Build cuda_13.2.r13.2/compiler.37953736_0"},
                                   ToolTexts{"Cuda compilation tools, release 13.3, V13.3.73",
                                             "Build cuda_13.3.r13.3/compiler.38244171_0"},
                                   ToolTexts{"Cuda compilation tools, release 13.4, V13.4.92",
                                             "Build cuda_13.4.r13.4/compiler.38855100_0"},
                                   ToolTexts{"Cuda compilation tools, release 13.5, V13.5.37",
                                             "Build cuda_13.5.r13.5/compiler.39125733_0"}};

}  // namespace

std::string ToolkitProfile::ReleaseName() const {
  return base::Cat({std::to_string(release / 10), ".", std::to_string(release % 10)});
}

bool ToolkitProfile::IsReleaseOf(std::string_view version) const {
  const std::string name = ReleaseName();
  return version.empty() || (version.starts_with(name) &&
                             (version.size() == name.size() || version[name.size()] == '.'));
}

ToolkitProfile ToolkitProfile::Nearest(int release) {
  constexpr int kFirst = 130;
  constexpr int kLast = kFirst + static_cast<int>(kToolTexts.size()) - 1;
  const int minor = std::clamp(release, kFirst, kLast) - kFirst;
  return ForRelease(base::Cat({"13.", std::to_string(minor)})).value_or(ToolkitProfile());
}

absl::StatusOr<ToolkitProfile> ToolkitProfile::ForRelease(std::string_view release) {
  return base::Guard([&]() -> absl::StatusOr<ToolkitProfile> {
    ToolkitProfile profile;
    if (release.size() != 4 || !release.starts_with("13.") || release[3] < '0' ||
        release[3] > '5') {
      return absl::NotFoundError(absl::StrCat("no profile of CUDA release '", base::ToAbsl(release),
                                              "'; there are 13.0 to 13.5"));
    }
    const int minor = release[3] - '0';
    profile.release = static_cast<std::uint16_t>(130 + minor);
    profile.version_text = kToolTexts[minor].version;
    profile.build_text = kToolTexts[minor].build;
    // "V13.0.88", but "V13.1.115" in one release.
    profile.version_text_length = minor == 1 ? 47 : 46;
    profile.accepts_specific_code_for_plain_target = minor == 0;
    profile.lto_drops_arch_suffix = minor < 2;
    profile.lto_debug_is_unoptimized = minor >= 5;
    profile.added_module_leaves_lto_ptx = minor == 0;
    profile.compat_has_fixed_tags = minor == 0;
    profile.compat_keeps_opportunistic = minor == 0;
    profile.aligns_external_shared = minor >= 1;
    profile.relocatable_keeps_shared = minor >= 2;
    profile.reverses_undefined_of_single_kernel = minor < 2;
    profile.languages_travel = minor >= 2;
    profile.mask_68_travels = minor >= 3;
    profile.compat_keeps_fastpath = minor >= 2;
    profile.compat_adds_isa_minimum = minor >= 3;
    profile.compat_adds_internal_target = minor >= 4;
    profile.weak_symbols_are_global = minor >= 4;
    profile.moved_shared_is_local = minor >= 4;
    profile.compat_intersects_tcgen05_and_finalizer = minor >= 1;
    profile.writes_phantom_rel_names = minor < 5;
    profile.constants_move_null_symbol = minor < 5;
    return profile;
  });
}

}  // namespace devlink
