// SPDX-License-Identifier: Apache-2.0
//
// An open-addressing hash table in global memory, for any key that fits into 64 bits.
#ifndef EXAMPLES_HASH_JOIN_HASH_TABLE_H_
#define EXAMPLES_HASH_JOIN_HASH_TABLE_H_

#include <cstdint>

template <typename Key>
struct HashTable {
  using Word = unsigned long long;  // what atomicCAS takes

  // Marks a free slot, so this is not a key. All bits set, which cudaMemset can write.
  static constexpr Word kFree = ~Word{0};

  Word* keys;
  int* values;
  unsigned capacity;  // a power of two

  // Not inline: both the building and the probing unit instantiate these, and the linker must keep
  // one copy of each.
  __device__ __noinline__ unsigned Slot(Key key) const;
  __device__ __noinline__ bool Insert(Key key, int value);
  __device__ __noinline__ int Find(Key key) const;
};

template <typename Key>
__device__ unsigned HashTable<Key>::Slot(Key key) const {
  std::uint64_t h = static_cast<std::uint64_t>(key);
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdull;
  h ^= h >> 33;
  return static_cast<unsigned>(h) & (capacity - 1);
}

// Fails when the table is full. Of equal keys the first one stays.
template <typename Key>
__device__ bool HashTable<Key>::Insert(Key key, int value) {
  const Word word = static_cast<Word>(key);
  unsigned slot = Slot(key);
  for (unsigned tries = 0; tries < capacity; ++tries) {
    const Word seen = atomicCAS(&keys[slot], kFree, word);
    if (seen == kFree) {
      values[slot] = value;
      return true;
    }
    if (seen == word) return true;
    slot = (slot + 1) & (capacity - 1);
  }
  return false;
}

// Returns the value, or -1 where the key is not in the table.
template <typename Key>
__device__ int HashTable<Key>::Find(Key key) const {
  const Word word = static_cast<Word>(key);
  unsigned slot = Slot(key);
  for (unsigned tries = 0; tries < capacity; ++tries) {
    if (keys[slot] == word) return values[slot];
    if (keys[slot] == kFree) return -1;
    slot = (slot + 1) & (capacity - 1);
  }
  return -1;
}

struct Match {
  int left;
  int right;
};

// statistics.cu: counters that all kernels share.
struct JoinStatistics {
  unsigned long long inserted;
  unsigned long long probed;
  unsigned long long matched;
};
extern __device__ JoinStatistics statistics;
__device__ void Count(unsigned long long* counter, unsigned amount);

// build.cu and probe.cu
__global__ void Build32(HashTable<std::uint32_t> table, const std::uint32_t* keys, int count);
__global__ void Build64(HashTable<std::uint64_t> table, const std::uint64_t* keys, int count);
__global__ void Probe32(HashTable<std::uint32_t> table, const std::uint32_t* keys, int count,
                        Match* matches, int* match_count);
__global__ void Probe64(HashTable<std::uint64_t> table, const std::uint64_t* keys, int count,
                        Match* matches, int* match_count);

#endif  // EXAMPLES_HASH_JOIN_HASH_TABLE_H_
