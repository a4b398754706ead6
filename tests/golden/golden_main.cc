// SPDX-License-Identifier: Apache-2.0
//
// devlink-golden FILE: describes a linked cubin, for scripts/update-goldens.
#include <cstdio>

#include "golden/golden.h"
#include "support/process.h"

int main(int argc, char** argv) {
  const auto bytes = argc == 2 ? devlink::testing::ReadBytes(argv[1]) : std::nullopt;
  if (!bytes) {
    std::fputs("usage: devlink-golden FILE\n", stderr);
    return 2;
  }
  std::fputs(devlink::testing::DescribeOutput(*bytes).c_str(), stdout);
  return 0;
}
