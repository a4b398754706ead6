// SPDX-License-Identifier: Apache-2.0
// The resource report of -v.
// link-flags: -v
// expect: any
__device__ int Far(int x);
__device__ int field[100];
__constant__ int table[30];
__global__ void First(int* p) {
  __shared__ int s[7];
  s[*p] = 1;
  __syncthreads();
  *p = Far(s[1]) + table[*p];
}
