// SPDX-License-Identifier: Apache-2.0
// A stack of run-time size.
__global__ void Kernel(int* p) {
  int* q = (int*)alloca(*p);
  q[p[1]] = 3;
  p[2] = q[p[3]];
}
