// SPDX-License-Identifier: Apache-2.0
__device__ int Far(int x) {
  volatile int l[20];
  l[x] = 1;
  return l[x + 1] + x;
}
__global__ void Second(double* p) { *p = *p * 1.000000001234 / 3; }
