// SPDX-License-Identifier: Apache-2.0
// The same warning, suppressed.
// link-flags: -suppress-stack-size-warning
__device__ int Odd(int n);
__device__ __noinline__ int Even(int n) { return n == 0 ? 1 : Odd(n - 1) * 3 + n; }
__device__ __noinline__ int Odd(int n) { return n == 0 ? 0 : Even(n - 2) + Even(n - 1); }
__global__ void Self(int* p) { *p = Even(*p); }
