// SPDX-License-Identifier: Apache-2.0
// Shared variables at file scope, one of them unused, one used by a dead function only.
__shared__ int board[64];
__shared__ int unused[64];
__shared__ int dead_only[32];
__device__ int Dead(int i) { return dead_only[i]; }
__device__ __noinline__ int Look(int i) { return board[i]; }
__global__ void Put(int* p) {
  board[threadIdx.x] = *p;
  __syncthreads();
  *p = Look(threadIdx.x ^ 1);
}
__global__ void Get(int* p) { *p = Look(*p); }
