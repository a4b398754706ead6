// SPDX-License-Identifier: Apache-2.0
// An undefined reference from a dead function is not an error.
__device__ int Missing(int x);
__device__ int Dead(int x) { return Missing(x); }
__global__ void Kernel(int* p) { *p = 1; }
