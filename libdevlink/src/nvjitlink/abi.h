// SPDX-License-Identifier: Apache-2.0
//
// Numbers of nvJitLink's interface, as its callers know them.
#pragma once

#include <string_view>

namespace devlink::nvjitlink {

// What every function returns. Those between are never returned here.
enum class Result : int {
  kSuccess = 0,
  kUnrecognizedOption = 1,
  kMissingArch = 2,
  kInvalidInput = 3,
  kPtxCompile = 4,
  kNvvmCompile = 5,
  kInternal = 6,
  kUnrecognizedInput = 8,
  kNullInput = 10,
  kIncompatibleOptions = 11,
  kIncorrectInputType = 12,
  kArchMismatch = 13,
  kUnrecognizedArch = 16,
  kUnsupportedArch = 17,
  kLtoNotEnabled = 18,
};

// What an input is said to be. Callers may give any other number.
enum class InputType : int {
  kCubin = 1,
  kPtx = 2,
  kLtoIr = 3,
  kFatbin = 4,
  kObject = 5,
  kLibrary = 6,
  kIndex = 7,
  kAny = 10,
};

// `NVJITLINK_INPUT_CUBIN`; empty for a number that is none of them.
std::string_view NameOf(InputType type);

// The release whose library this one stands in for.
inline constexpr unsigned kMajorVersion = 13;
inline constexpr unsigned kMinorVersion = 0;

}  // namespace devlink::nvjitlink
