// SPDX-License-Identifier: Apache-2.0
#include "hash_table.h"

namespace {

template <typename Key>
__device__ void Build(HashTable<Key> table, const Key* keys, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool inserted = i < count && table.Insert(keys[i], i);
  const unsigned in_block = static_cast<unsigned>(__syncthreads_count(inserted));
  if (threadIdx.x == 0) Count(&statistics.inserted, in_block);
}

}  // namespace

__global__ void Build32(HashTable<std::uint32_t> table, const std::uint32_t* keys, int count) {
  Build(table, keys, count);
}

__global__ void Build64(HashTable<std::uint64_t> table, const std::uint64_t* keys, int count) {
  Build(table, keys, count);
}
