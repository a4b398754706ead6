// SPDX-License-Identifier: Apache-2.0
// Recursion, direct and through another file: the stack is unknown and a warning says so.
// expect: warning
__device__ int Odd(int n);
__device__ int Even(int n) { return n == 0 ? 1 : Odd(n - 1); }
__device__ int Factorial(int n) { return n < 2 ? 1 : n * Factorial(n - 1); }
__global__ void Self(int* p) { *p = Factorial(*p); }
