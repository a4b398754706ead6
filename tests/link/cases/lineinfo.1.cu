// SPDX-License-Identifier: Apache-2.0
// Line tables of two files.
// flags: -lineinfo
__device__ int Step(int x);
__device__ int Dead(int x) { return x * 5; }
__global__ void First(int* p) { *p = Step(*p) + 1; }
