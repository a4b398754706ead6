// SPDX-License-Identifier: Apache-2.0
//
// File: devlink/compatibility.h
#pragma once

namespace devlink {

// What becomes of inputs that nvlink leaves out without a word (docs/inputs.md).
enum class Compatibility {
  kDevlink,  // device code is linked wherever it is found, or refused with the reason
  kNvlink,   // left out, as nvlink does
};

}  // namespace devlink
