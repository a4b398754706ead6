// SPDX-License-Identifier: Apache-2.0
// printf in two files: the format strings are local, vprintf stays undefined.
#include <cstdio>
__device__ void Tell(int x) { printf("told %d\n", x); }
__global__ void First() {
  printf("first\n");
  Tell(1);
}
