// SPDX-License-Identifier: Apache-2.0
__device__ double Poly(double);
__device__ double Other(double);
__global__ void B(double* p) { *p = Poly(*p) + Other(*p); }
__global__ void C(double* p) { *p = Other(*p) * 1.00000001 + 7.77777777777; }
