// SPDX-License-Identifier: Apache-2.0
// Synchronisation of the whole grid through cooperative groups.
#include <cooperative_groups.h>
__device__ void Wait() { cooperative_groups::this_grid().sync(); }
__global__ void First(int* p) {
  p[0] = 1;
  Wait();
  p[1] = p[0];
}
