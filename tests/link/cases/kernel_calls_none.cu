// SPDX-License-Identifier: Apache-2.0
// Kernels of the simplest kind: no parameters, no body, many parameters.
__global__ void Nothing() {}
__global__ void Six(int a, char b, double c, short d, void* e, float* f) { *f = a + b + c + d; }
struct Large {
  int v[900];
};
__global__ void Big(Large l, int* p) { *p = l.v[*p]; }
