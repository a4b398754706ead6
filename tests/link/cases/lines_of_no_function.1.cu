// SPDX-License-Identifier: Apache-2.0
// A line table without lines: of a file that has only a variable. Both views share it.
__device__ extern int value;
__global__ void Kernel(int* p) { *p = value; }
