// SPDX-License-Identifier: Apache-2.0
//
// Hash join: finds equal keys in two columns. Templates that several units instantiate, atomics,
// and buffers in static and dynamic shared memory.
#include <cstdio>
#include <vector>

#include "hash_table.h"

__global__ void ResetStatistics() { statistics = JoinStatistics{}; }

int main() {
  const int left_count = 10000;
  const int right_count = 20000;
  const unsigned capacity = 32768;
  std::vector<std::uint32_t> left(left_count);
  std::vector<std::uint32_t> right(right_count);
  for (int i = 0; i < left_count; ++i) left[i] = 3u * static_cast<unsigned>(i);
  for (int i = 0; i < right_count; ++i) right[i] = 2u * static_cast<unsigned>(i);
  int expected = 0;  // multiples of six that are in both
  for (int i = 0; i < left_count; ++i) expected += left[i] % 2 == 0 && left[i] < 2u * right_count;

  HashTable<std::uint32_t> table{};
  table.capacity = capacity;
  std::uint32_t* keys;
  Match* matches;
  int* match_count;
  cudaMalloc(&table.keys, capacity * sizeof(*table.keys));
  cudaMalloc(&table.values, capacity * sizeof(int));
  cudaMalloc(&keys, right_count * sizeof(*keys));
  cudaMalloc(&matches, right_count * sizeof(Match));
  cudaMalloc(&match_count, sizeof(int));
  cudaMemset(table.keys, 0xff, capacity * sizeof(*table.keys));
  cudaMemset(match_count, 0, sizeof(int));
  ResetStatistics<<<1, 1>>>();
  cudaMemcpy(keys, left.data(), left_count * sizeof(*keys), cudaMemcpyHostToDevice);
  Build32<<<(left_count + 255) / 256, 256>>>(table, keys, left_count);
  cudaMemcpy(keys, right.data(), right_count * sizeof(*keys), cudaMemcpyHostToDevice);
  Probe32<<<(right_count + 255) / 256, 256, 256 * sizeof(Match)>>>(table, keys, right_count,
                                                                   matches, match_count);
  int found = 0;
  JoinStatistics counted{};
  cudaMemcpy(&found, match_count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&counted, statistics, sizeof(counted));
  std::printf("%d matches, %llu inserted, %llu probed (%s)\n", found, counted.inserted,
              counted.probed, cudaGetErrorString(cudaGetLastError()));
  return found == expected && counted.matched == static_cast<unsigned>(expected) ? 0 : 1;
}
