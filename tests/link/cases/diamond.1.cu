// SPDX-License-Identifier: Apache-2.0
// A call graph with two ways to one function, over three files in an order of their own.
__device__ int Left(int x);
__device__ int Right(int x);
__global__ void Top(int* p) { *p = Left(*p) + Right(*p); }
