// SPDX-License-Identifier: Apache-2.0
// CUB.
#ifndef WITHOUT_CUB
#include <cub/block/block_reduce.cuh>

#include "program.h"

__global__ void Reduce(int* data) {
  using BlockReduce = cub::BlockReduce<int, 128>;
  __shared__ typename BlockReduce::TempStorage room;
  const int sum = BlockReduce(room).Sum(Mix(data[threadIdx.x & 63]));
  if (threadIdx.x == 0) *data = sum;
}

void RunReduce(int* data) { Reduce<<<1, 128>>>(data); }
#endif
