// SPDX-License-Identifier: Apache-2.0
// The linker's -g with inputs that have no debug information.
// link-flags: -g
extern __shared__ int dynamic[];
__shared__ int board[5];
__device__ int Dead(int x) { return board[x]; }
__global__ void First(int* p) {
  __shared__ int own[3];
  own[*p] = dynamic[1];
  __syncthreads();
  *p = own[1];
}
