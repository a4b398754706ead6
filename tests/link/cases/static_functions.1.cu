// SPDX-License-Identifier: Apache-2.0
// Static functions and variables with equal names in two files stay apart.
static __device__ int state = 1;
static __device__ __noinline__ int Helper(int x) { return x * 3 + state++; }
__global__ void First(int* p) { *p = Helper(*p); }
