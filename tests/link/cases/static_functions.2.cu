// SPDX-License-Identifier: Apache-2.0
static __device__ int state = 2;
static __device__ __noinline__ int Helper(int x) { return x * 5 - state--; }
__global__ void Second(int* p) { *p = Helper(*p); }
