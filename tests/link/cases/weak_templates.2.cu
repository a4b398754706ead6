// SPDX-License-Identifier: Apache-2.0
template <int N>
__device__ __noinline__ int Count(int x) {
  static __device__ int calls[N];
  static __device__ int start = N;
  return calls[x % N]++ + start;
}
__global__ void Second(int* p) { *p = Count<3>(*p) + Count<5>(*p); }
