// SPDX-License-Identifier: Apache-2.0
//
// One target as libFuzzer calls it. DEVLINK_FUZZ_TARGET is its name.
#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const devlink::testing::FuzzTarget* const target =
      devlink::testing::FindFuzzTarget(DEVLINK_FUZZ_TARGET);
  target->run({data, size});
  return 0;
}
