// SPDX-License-Identifier: Apache-2.0
// Local arrays: a kernel's stack is the deepest chain of frames below it.
__device__ int Deep(int x);
__device__ int Middle(int x) {
  volatile int l[30];
  l[x & 15] = x;
  return Deep(l[3]) + l[x & 7];
}
__global__ void Three(int* p) {
  volatile int l[4];
  l[*p & 3] = 1;
  *p = Middle(*p) + l[1];
}
__global__ void Two(int* p) { *p = Middle(*p); }
