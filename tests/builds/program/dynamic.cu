// SPDX-License-Identifier: Apache-2.0
// Shared memory whose size the launch decides.
#include "program.h"

extern __shared__ int dynamic_room[];

__device__ int Dynamic(int x) {
  dynamic_room[threadIdx.x] = x;
  __syncthreads();
  return dynamic_room[(threadIdx.x + 1) % blockDim.x];
}
