// SPDX-License-Identifier: Apache-2.0
typedef int (*Unary)(int);
extern __device__ Unary table[2];
__device__ double Half(double);
__device__ int Square(int x) { return x * x; }
__global__ void Choice(int* p, double* d) {
  Unary f = p[1] ? Square : table[0];
  double (*g)(double) = p[2] ? Half : (double (*)(double)) nullptr;
  *p = f(*p);
  *d = g(*d);
}
