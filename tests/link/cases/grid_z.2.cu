// SPDX-License-Identifier: Apache-2.0
__device__ int Depth();
__global__ void UsesToo(int* p) { *p = Depth() + 1; }
__global__ void Own(int* p) { *p = blockIdx.z; }
__global__ void Not(int* p) { *p = blockIdx.y; }
