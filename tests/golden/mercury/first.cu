// SPDX-License-Identifier: Apache-2.0
//
// With second.cu: what a Mercury view can hold. CUDA 13.0 made the cubins beside this file:
//   nvcc -arch=sm_100 -rdc=true -cubin first.cu -o first.cubin
extern __device__ int foreign;
extern __device__ int far(int);
__constant__ int table[4] = {1, 2, 3, 4};
__device__ int start = 7;
__device__ int* pointer = &foreign;
__device__ short zeroed[5];

template <typename T>
__device__ __noinline__ T Twice(T x) {
  return x * 3 + 1;
}

__device__ __noinline__ int Unused(int x) { return x * zeroed[1]; }

__device__ __noinline__ int Jump(int x) {
  switch (x) {
    case 0:
      return 5;
    case 1:
      return x * 77;
    case 2:
      return 99;
    case 3:
      return start;
    case 4:
      return 1234;
    case 5:
      return 17 + x * x;
    case 6:
      return 3;
    default:
      return 8;
  }
}

__global__ void Sum(int* p, int n) {
  __shared__ int own[32];
  own[threadIdx.x & 31] = n;
  __syncthreads();
  p[0] = far(own[n & 31]) + table[n & 3] + foreign + Twice(n) + Jump(n);
}

__global__ void Dynamic(int* p, int n) {
  extern __shared__ int rest[];
  rest[n] = p[n];
  __syncthreads();
  p[n] = rest[n + 1] + *pointer;
}
