// SPDX-License-Identifier: Apache-2.0
extern __shared__ int dynamic[];
__device__ __noinline__ int Step(int x) { return x < 3 ? x * 7 : x - dynamic[1]; }
__global__ void Second(int* p) { *p = Step(*p); }
