// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: tiles, reductions, scans, grid synchronisation over three files.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__device__ int TileSum(const int* in, int n);
__device__ void GridWait();

__global__ void Reduce(const int* in, int* out, int n) {
  __shared__ int partial[8];
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<32>(block);
  const int sum = cg::reduce(tile, in[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0) partial[tile.meta_group_rank()] = sum;
  block.sync();
  GridWait();
  out[block.thread_rank()] = partial[n & 7] + TileSum(in, n);
}
