// SPDX-License-Identifier: Apache-2.0
// Debug information of three kinds in one link: none, lines, full.
// flags: -lineinfo
__device__ int A(int x);
__device__ int B(int x);
__global__ void Kernel(int* p) { *p = A(*p) + B(p[1]); }
