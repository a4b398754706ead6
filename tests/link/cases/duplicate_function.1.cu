// SPDX-License-Identifier: Apache-2.0
// Two strong definitions of functions, a kernel and a variable.
// expect: error
__device__ int value = 1;
__device__ int Twice(int x) { return x * 2; }
__global__ void Kernel(int* p) { *p = Twice(*p); }
