// SPDX-License-Identifier: Apache-2.0
// Pointers in initialisers, across files and spaces.
extern __device__ int far_array[10];
extern __constant__ int far_constant[4];
__device__ int here[3] = {1, 2, 3};
__device__ int* a = here + 1;
__device__ int* b = far_array + 4;
__device__ int** c = &a;
__constant__ int* d[2] = {here, far_array};
__device__ const int* e = &far_constant[2];
__global__ void Kernel(int* p) { *p = *a + *b + **c + *d[*p] + *e; }
