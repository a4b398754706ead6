// SPDX-License-Identifier: Apache-2.0
__device__ __noinline__ unsigned Inner(unsigned x) { return 3 * x + (clock64() == 0); }

__device__ __noinline__ unsigned Outer(unsigned x) { return Inner(x) + 2; }
