// SPDX-License-Identifier: Apache-2.0
#include <cassert>
#include <cstdio>

#include "program.h"

__device__ int Log(int x) {
  assert(x != 12345);
  return printf("%d of %s\n", x, "log");
}
