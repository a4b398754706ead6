// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>
__device__ void Wait();
__global__ void Second(int* p) {
  auto block = cooperative_groups::this_thread_block();
  auto tile = cooperative_groups::tiled_partition<16>(block);
  p[0] = tile.shfl(p[1], 3);
  block.sync();
  Wait();
}
