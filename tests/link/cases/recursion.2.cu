// SPDX-License-Identifier: Apache-2.0
__device__ int Even(int n);
__device__ int Odd(int n) { return n == 0 ? 0 : Even(n - 1); }
__global__ void Mutual(int* p) { *p = Even(*p); }
__global__ void None(int* p) { *p = 1; }
