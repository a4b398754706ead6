// SPDX-License-Identifier: Apache-2.0
//
// devlink-diff A B: tells how two cubins differ, as far as a linker is concerned: each linker's own
// record in `.note.nv.tkinfo` may differ. Exit status 0: equal; 1: different; 2: unreadable.
#include <fmt/format.h>

#include <cstdio>

#include "support/cubin_diff.h"
#include "support/process.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: devlink-diff A.cubin B.cubin\n");
    return 2;
  }
  const auto a = devlink::testing::ReadBytes(argv[1]);
  const auto b = devlink::testing::ReadBytes(argv[2]);
  if (!a || !b) {
    fmt::print(stderr, "devlink-diff: cannot read '{}'\n", a ? argv[2] : argv[1]);
    return 2;
  }
  const std::string difference = devlink::testing::ExplainDifference(*a, *b);
  fmt::print("{}\n", difference.empty() ? "identical" : difference);
  return difference.empty() ? 0 : 1;
}
