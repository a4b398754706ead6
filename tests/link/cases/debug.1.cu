// SPDX-License-Identifier: Apache-2.0
// Full debug information; the linker without -g still drops dead functions.
// flags: -G
__device__ int Step(int x);
__shared__ int board[5];
__device__ int Dead(int x) { return x * 5; }
__global__ void First(int* p) {
  __shared__ int own[3];
  own[*p] = 1;
  board[*p] = 2;
  *p = Step(*p) + own[1] + board[2];
}
