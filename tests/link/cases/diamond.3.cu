// SPDX-License-Identifier: Apache-2.0
__device__ int Bottom(int x);
__device__ int Left(int x) { return Bottom(x) * 2; }
__device__ int Right(int x) { return Bottom(x) * 3; }
__global__ void Side(int* p) { *p = Right(*p); }
