// SPDX-License-Identifier: Apache-2.0
#include "hash_table.h"

namespace {

// One Match per thread; the launch gives it its size.
extern __shared__ Match block_matches[];

template <typename Key>
__device__ void Probe(HashTable<Key> table, const Key* keys, int count, Match* matches,
                      int* match_count) {
  __shared__ int found;
  __shared__ int base;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    const int left = table.Find(keys[i]);
    if (left >= 0) block_matches[atomicAdd(&found, 1)] = {left, i};
  }
  __syncthreads();
  // One reservation for the block, then a write in order: matches stay dense.
  if (threadIdx.x == 0) {
    base = atomicAdd(match_count, found);
    Count(&statistics.matched, static_cast<unsigned>(found));
    const int rest = count - static_cast<int>(blockIdx.x * blockDim.x);
    Count(&statistics.probed, static_cast<unsigned>(min(rest, static_cast<int>(blockDim.x))));
  }
  __syncthreads();
  for (int m = threadIdx.x; m < found; m += blockDim.x) matches[base + m] = block_matches[m];
}

}  // namespace

__global__ void Probe32(HashTable<std::uint32_t> table, const std::uint32_t* keys, int count,
                        Match* matches, int* match_count) {
  Probe(table, keys, count, matches, match_count);
}

__global__ void Probe64(HashTable<std::uint64_t> table, const std::uint64_t* keys, int count,
                        Match* matches, int* match_count) {
  Probe(table, keys, count, matches, match_count);
}
