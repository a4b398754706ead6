// SPDX-License-Identifier: Apache-2.0
__device__ unsigned Twice(unsigned x) { return 2 * x; }

__device__ __noinline__ unsigned Factorial(unsigned n) { return n < 2 ? 1 : n * Factorial(n - 1); }
