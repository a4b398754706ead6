// SPDX-License-Identifier: Apache-2.0
// A kernel with a bound on its threads, and local memory.
#include "program.h"

__device__ __noinline__ int Bounded(int x) {
  int many[40];
  for (int i = 0; i < 40; ++i) many[i] = i * x;
  for (int i = 0; i < 40; ++i) x += many[(x + i) % 40] * many[i];
  return x;
}

__global__ void __launch_bounds__(128, 2) BoundedKernel(int* data) { *data = Bounded(*data); }
