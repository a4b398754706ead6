// SPDX-License-Identifier: Apache-2.0
// Functions whose address is taken stay, their callees do not.
__device__ int Callee(int x);
__device__ int Taken(int x) { return Callee(x) + 1; }
__device__ int (*keep)(int) = Taken;
__global__ void Kernel(int* p) { *p = 4; }
