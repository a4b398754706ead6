// SPDX-License-Identifier: Apache-2.0
#include "program.h"

__device__ int Shared(int x) {
  __shared__ int room[64];
  __shared__ double wide[8];
  room[threadIdx.x & 63] = x;
  wide[threadIdx.x & 7] = x;
  __syncthreads();
  return room[(threadIdx.x + 5) & 63] + static_cast<int>(wide[0]);
}
