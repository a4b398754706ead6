// SPDX-License-Identifier: Apache-2.0
__device__ int Deep(int x) {
  volatile double l[50];
  l[x & 31] = x;
  return (int)l[x & 7];
}
__global__ void One(int* p) { *p = Deep(*p); }
__global__ void None(int* p) { *p = 1; }
