// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory that only functions without a caller touch.
extern __shared__ int dynamic[];
__device__ __noinline__ int Lost(int i) { return dynamic[i]; }
__device__ int (*keep)(int) = Lost;
__global__ void Kernel(int* p) { *p = 1; }
