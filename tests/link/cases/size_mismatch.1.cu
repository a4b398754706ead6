// SPDX-License-Identifier: Apache-2.0
// A variable declared with one size and defined with another.
// expect: error
extern __device__ int numbers[4];
__global__ void Kernel(int* p) { *p = numbers[1]; }
