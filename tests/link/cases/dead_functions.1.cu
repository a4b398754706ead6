// SPDX-License-Identifier: Apache-2.0
// Functions that nothing reaches are dropped, with all that only they refer to; variables stay.
__device__ int only_dead[7];
__device__ int Unused(int x);
__device__ int Dead(int x) {
  only_dead[1] = x;
  return Unused(x) + 1;
}
__global__ void Kernel(int* p) { *p = 4; }
