// SPDX-License-Identifier: Apache-2.0
#include "program.h"

__device__ int Warp(int x) {
  for (int lane = 16; lane > 0; lane /= 2) x += __shfl_xor_sync(0xffffffff, x, lane);
  return x + __popc(__ballot_sync(0xffffffff, x > 0));
}
