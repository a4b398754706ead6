// SPDX-License-Identifier: Apache-2.0
#include "nbody.h"

__device__ float BlockSum(float value) {
  __shared__ float partial[32];
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, offset);
  }
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  const unsigned warps = (blockDim.x + 31) / 32;
  value = threadIdx.x < warps ? partial[lane] : 0.0f;
  if (warp == 0) {
    for (int offset = 16; offset > 0; offset /= 2) {
      value += __shfl_down_sync(0xffffffffu, value, offset);
    }
  }
  return value;
}
