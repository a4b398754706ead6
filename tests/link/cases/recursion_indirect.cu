// SPDX-License-Identifier: Apache-2.0
// A function that calls through a pointer of its own type may call itself.
// expect: warning
typedef int (*Unary)(int);
__device__ Unary next;
__device__ __noinline__ int Again(int x) { return x < 2 ? x : next(x - 1); }
__device__ Unary start = Again;
__global__ void Kernel(int* p) { *p = start(*p); }
