// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__device__ int TileSum(const int* in, int n) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  return cg::inclusive_scan(tile, in[n + tile.thread_rank()]);
}

__global__ void Vote(int* p) {
  const auto active = cg::coalesced_threads();
  *p = active.any(*p > 3) + active.size();
}
