// SPDX-License-Identifier: Apache-2.0
#include <cassert>
#include <cstdio>
__device__ int* Make(int n);
__global__ void Only(int** p) {
  *p = Make(3);
  printf("x\n");
  assert(p[1]);
}
