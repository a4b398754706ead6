// SPDX-License-Identifier: Apache-2.0
__device__ __noinline__ int Work(int x) { return x * x; }
__global__ void __launch_bounds__(1024) D(int* p) { *p = Work(*p); }
