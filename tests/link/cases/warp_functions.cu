// SPDX-License-Identifier: Apache-2.0
// Warp-wide functions record the places of their instructions.
__device__ __noinline__ int Sum(int x) {
  return __shfl_xor_sync(~0u, x, 1) + __popc(__ballot_sync(~0u, x > 3));
}
__global__ void Kernel(int* p) {
  *p = Sum(*p) + __any_sync(~0u, p[1]) + __match_any_sync(~0u, p[2]);
}
