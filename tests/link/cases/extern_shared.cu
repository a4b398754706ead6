// SPDX-License-Identifier: Apache-2.0
// Dynamic shared memory behind static shared memory of different size in each kernel.
extern __shared__ int dynamic[];
__device__ __noinline__ int Peek(int i) { return dynamic[i]; }
__global__ void Small(int* p) {
  __shared__ int s[3];
  s[threadIdx.x % 3] = 1;
  __syncthreads();
  *p = s[*p] + Peek(1);
}
__global__ void Large(int* p) {
  __shared__ double s[30];
  s[threadIdx.x] = 1;
  __syncthreads();
  *p = (int)s[*p] + Peek(2) + dynamic[3];
}
__global__ void Alone(int* p) { *p = dynamic[*p]; }
