// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>

__device__ void GridWait() { cooperative_groups::this_grid().sync(); }

__global__ void Phases(int* p) {
  p[threadIdx.x] = 1;
  GridWait();
  p[threadIdx.x] += p[threadIdx.x ^ 1];
  GridWait();
}
