// SPDX-License-Identifier: Apache-2.0
// The linker's -g keeps dead functions and the symbols of shared memory.
// flags: -G
// link-flags: -g
__device__ int Step(int x);
__shared__ int board[5];
__shared__ int unused[6];
__device__ int Dead(int x) { return x * board[2]; }
__global__ void First(int* p) {
  __shared__ int own[3];
  own[*p] = 1;
  board[*p] = 2;
  *p = Step(*p) + own[1] + board[2];
}
