// SPDX-License-Identifier: Apache-2.0
// Calls through pointers: from a table, by choice, with two prototypes.
typedef int (*Unary)(int);
__device__ int Up(int x) { return x + 1; }
__device__ int Down(int x) { return x - 1; }
__device__ double Half(double x) { return x / 2; }
__device__ Unary table[2] = {Up, Down};
__global__ void Table(int* p) { *p = table[p[1]](*p); }
