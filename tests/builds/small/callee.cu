// SPDX-License-Identifier: Apache-2.0
#include "small.h"

static __device__ int calls;

__device__ __noinline__ int Callee(int x) {
  __shared__ int room[16];
  room[x & 15] = ++calls;
  return room[(x + 1) & 15] + InLibrary(x);
}

__constant__ Table table[2] = {{Callee, 2}, {InLibrary, 3}};
