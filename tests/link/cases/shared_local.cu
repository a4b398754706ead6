// SPDX-License-Identifier: Apache-2.0
// Shared variables of one kernel: many alignments and equal sizes decide their order.
__global__ void Kernel(int* p) {
  __shared__ char a[3];
  __shared__ double b[2];
  __shared__ int c[4];
  __shared__ int d[4];
  __shared__ float4 e[1];
  __shared__ char f[16];
  __shared__ short g[8];
  const int i = threadIdx.x & 1;
  a[i] = 1;
  b[i] = 2;
  c[i] = 3;
  d[i] = 4;
  e[0].x = 5;
  f[i] = 6;
  g[i] = 7;
  __syncthreads();
  *p = a[1 - i] + (int)b[1 - i] + c[1 - i] + d[1 - i] + (int)e[0].x + f[1 - i] + g[1 - i];
}
