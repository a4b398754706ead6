// SPDX-License-Identifier: Apache-2.0
#include "program.h"

__device__ int Inline(int x) {
  int out = 0;
  asm volatile("{ .reg .b32 t; shl.b32 t, %1, 2; add.s32 %0, t, 5; }" : "=r"(out) : "r"(x));
  return out;
}
