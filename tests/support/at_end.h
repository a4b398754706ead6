// SPDX-License-Identifier: Apache-2.0
//
// What main() does behind the run of all tests, while everything static is still there.
#pragma once

#include <vector>

namespace devlink::testing {

inline std::vector<void (*)()>& EndHooks() {
  static std::vector<void (*)()> hooks;
  return hooks;
}

}  // namespace devlink::testing
