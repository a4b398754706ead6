// SPDX-License-Identifier: Apache-2.0
// A kernel whose parameters fill more than four kilobytes.
struct Large {
  int v[1500];
};
__global__ void Kernel(__grid_constant__ const Large l, int* p) { *p = l.v[*p]; }
