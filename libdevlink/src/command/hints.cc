// SPDX-License-Identifier: Apache-2.0
#include "command/hints.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "base/edit_distance.h"
#include "base/strings.h"
#include "command/option_table.h"
#include "devlink/arch.h"
#include "devlink/toolkit_profile.h"
#include "format/sm_traits.h"

namespace devlink::internal {

namespace {

std::string_view WithoutDashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

std::string DidYouMean(std::string_view what) { return base::Cat({"did you mean '", what, "'?"}); }

// `-o`, `--output-file`
std::string Spelled(const Option& option, bool is_long) {
  return base::Cat({is_long ? "--" : "-", is_long ? option.long_name : option.short_name});
}

}  // namespace

std::vector<std::string> HintsOnOption(std::string_view word) {
  const std::string_view name = WithoutDashes(word.substr(0, word.find('=')));
  if (name.empty()) return {};
  // The right name behind the wrong number of dashes.
  for (const Option& option : Options()) {
    if (option.long_name == name) return {DidYouMean(Spelled(option, true))};
    if (option.short_name == name) return {DidYouMean(Spelled(option, false))};
  }
  // `-ofile`
  for (const Option& option : Options()) {
    if (option.takes == Takes::kNothing || option.short_name.size() != 1) continue;
    if (name.starts_with(option.short_name) && name.find('.') != std::string_view::npos) {
      return {base::Cat(
          {"a value stands behind a blank or '=': -", option.short_name, " ", name.substr(1)})};
    }
  }
  std::size_t nearest = std::max<std::size_t>(name.size() > 4 ? 2 : 1, name.size() / 4);
  std::vector<std::string> out;
  for (const Option& option : Options()) {
    for (const bool is_long : {false, true}) {
      const std::string_view known = is_long ? option.long_name : option.short_name;
      if (known.size() < 3 || (is_long && option.short_name == known)) continue;
      const std::size_t distance = base::EditDistance(known, name, nearest + 1);
      if (distance > nearest) continue;
      if (distance < nearest) out.clear();
      nearest = distance;
      out.push_back(DidYouMean(Spelled(option, is_long)));
    }
  }
  constexpr std::size_t kMost = 3;
  if (out.size() > kMost) out.resize(kMost);
  if (out.empty()) out.emplace_back("devlink --help lists all options");
  return out;
}

std::vector<std::string> HintsOnArch(std::string_view text) {
  const std::vector<std::string> targets = format::TargetNames(ToolkitProfile().release);
  std::vector<std::string> out;
  // `80`, `sm80`, `SM_80`
  const std::string lower = absl::AsciiStrToLower(base::ToAbsl(text));
  const std::string_view number =
      std::string_view(lower).substr(std::min(lower.find_first_of("0123456789"), lower.size()));
  const std::string wanted = base::Cat({"sm_", number});
  if (std::ranges::find(targets, wanted) != targets.end()) {
    const bool is_virtual = lower.starts_with('c');
    out.push_back(DidYouMean(is_virtual ? Arch::Parse(wanted)->VirtualName() : wanted));
  }
  out.push_back(base::Cat({"targets: ", absl::StrJoin(targets, ", ")}));
  return out;
}

std::vector<std::string> HintsOnMissingArch() {
  return {"name the target, such as -arch=sm_90", HintsOnArch("").back()};
}

}  // namespace devlink::internal
