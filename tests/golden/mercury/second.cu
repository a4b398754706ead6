// SPDX-License-Identifier: Apache-2.0
//
// See first.cu.
__device__ int foreign = 3;
__shared__ int common[16];

template <typename T>
__device__ __noinline__ T Twice(T x) {
  return x * 3 + 1;
}
template __device__ int Twice<int>(int);

__device__ __noinline__ int far(int x) {
  common[x & 15] = x;
  __syncthreads();
  return common[(x + 1) & 15] + Twice(foreign);
}

typedef int (*Function)(int);
__device__ __noinline__ int Taken(int x) { return x ^ 0x55; }
__device__ Function choice[2] = {far, Taken};

__global__ void Indirect(int* p, int n) { p[0] = choice[n & 1](n); }
