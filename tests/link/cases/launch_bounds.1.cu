// SPDX-License-Identifier: Apache-2.0
// Launch bounds of all kinds.
__device__ int Work(int x);
__global__ void __launch_bounds__(128) A(int* p) { *p = Work(*p); }
__global__ void __launch_bounds__(256, 4) B(int* p) { *p = Work(*p) + 1; }
__global__ void __maxnreg__(40) C(int* p) { *p = p[1]; }
