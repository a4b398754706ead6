// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
__device__ int Unused(int x) {
  printf("dead\n");
  return x;
}
__device__ double DeadConstants(double x) { return x * 1.2345678901234 + 0.00012345; }
