// SPDX-License-Identifier: Apache-2.0
__device__ int value = 2;
__device__ int Twice(int x) { return x + x; }
__global__ void Kernel(int* p) { *p = 3; }
