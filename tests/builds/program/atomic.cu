// SPDX-License-Identifier: Apache-2.0
#include "program.h"

__device__ int counter = 7;
__device__ unsigned long long large[32];

__device__ int Atomic(int x) {
  atomicAdd(&counter, x);
  return static_cast<int>(atomicMax(&large[x & 31], static_cast<unsigned long long>(x)));
}
