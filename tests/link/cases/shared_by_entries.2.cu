// SPDX-License-Identifier: Apache-2.0
__device__ int B(int);
__device__ int C(int);
__device__ int D(int);
__global__ void BC(int* p) {
  __shared__ short own[7];
  own[*p] = 1;
  __syncthreads();
  *p = B(*p) + C(*p) + own[2];
}
__global__ void CD(int* p) { *p = C(*p) + D(*p); }
__global__ void OnlyD(int* p) { *p = D(*p); }
