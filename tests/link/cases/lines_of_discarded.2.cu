// SPDX-License-Identifier: Apache-2.0
// flags: -lineinfo
template <int N>
__device__ __noinline__ int Times(int x) {
  return x * N + 1;
}
template __device__ int Times<3>(int);
