// SPDX-License-Identifier: Apache-2.0
#include "lto/library_state.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace devlink::internal {

namespace {

constexpr std::array<std::string_view, 9> kWords = {"-link-lto",
                                                    "-gen-lto",
                                                    "-g",
                                                    "-generate-line-info",
                                                    "--device-c",
                                                    "--force-device-c",
                                                    "-fast-math",
                                                    "-has-global-host-info",
                                                    "-optimize-unused-variables"};
constexpr std::array<std::string_view, 12> kBeginnings = {
    "-arch=",          "-opt=",           "-maxreg=",
    "-Ofast-compile=", "-split-compile=", "-split-compile-extended=",
    "-ftz=",           "-prec-div=",      "-prec-sqrt=",
    "-fma=",           "-host-ref-",      "-jump-table-density="};

}  // namespace

bool LeavesNothingBehind(std::span<const std::string> words) {
  return std::all_of(words.begin(), words.end(), [](std::string_view word) {
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end() ||
           std::any_of(kBeginnings.begin(), kBeginnings.end(),
                       [word](std::string_view begin) { return word.starts_with(begin); });
  });
}

}  // namespace devlink::internal
