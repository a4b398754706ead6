// SPDX-License-Identifier: Apache-2.0
// Function templates used from two files: one body, one static variable.
template <int N>
__device__ __noinline__ int Count(int x) {
  static __device__ int calls[N];
  static __device__ int start = N;
  return calls[x % N]++ + start;
}
__global__ void First(int* p) { *p = Count<3>(*p) + Count<4>(*p); }
