// SPDX-License-Identifier: Apache-2.0
// A variable declared in one memory and defined in another.
// expect: error
extern __device__ int numbers[4];
__global__ void Kernel(int* p) { *p = numbers[*p]; }
