// SPDX-License-Identifier: Apache-2.0
// Static shared variables of device functions that several kernels reach, in all combinations.
__device__ __noinline__ int A(int x) {
  __shared__ int s[5];
  s[x & 3] = x;
  __syncthreads();
  return s[1];
}
__device__ __noinline__ int B(int x) {
  __shared__ double s[9];
  s[x & 3] = x;
  __syncthreads();
  return (int)s[1];
}
__device__ __noinline__ int C(int x) {
  __shared__ char s[77];
  s[x & 3] = x;
  __syncthreads();
  return s[1];
}
__device__ __noinline__ int D(int x) {
  __shared__ int s[5];
  s[x & 3] = x;
  __syncthreads();
  return s[2];
}
__global__ void OnlyA(int* p) { *p = A(*p); }
__global__ void AB(int* p) { *p = A(*p) + B(*p); }
