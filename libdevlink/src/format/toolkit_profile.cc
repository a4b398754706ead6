// SPDX-License-Identifier: Apache-2.0
#include "devlink/toolkit_profile.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace devlink {

absl::StatusOr<ToolkitProfile> ToolkitProfile::ForRelease(std::string_view release) {
  ToolkitProfile profile;
  if (release.size() != 4 || !release.starts_with("13.") || release[3] < '0' || release[3] > '5') {
    return absl::NotFoundError(absl::StrCat("no profile of CUDA release '", base::ToAbsl(release),
                                            "'; there are 13.0 to 13.5"));
  }
  const int minor = release[3] - '0';
  profile.release = static_cast<std::uint16_t>(130 + minor);
  // "V13.0.88", but "V13.1.115" in one release.
  profile.version_text_length = minor == 1 ? 47 : 46;
  profile.accepts_specific_code_for_plain_target = minor == 0;
  profile.compat_keeps_tag_06 = minor == 0;
  profile.compat_keeps_tag_0b = minor >= 2;
  profile.compat_adds_tag_0d = minor >= 3;
  profile.compat_adds_tag_0c = minor >= 4;
  profile.weak_symbols_are_global = minor >= 4;
  profile.compat_intersects_05_and_0e = minor >= 5;
  profile.writes_phantom_rel_names = minor < 5;
  return profile;
}

}  // namespace devlink
