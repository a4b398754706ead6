// SPDX-License-Identifier: Apache-2.0
__device__ double Wave(double);
__global__ void Slow(double* p) { *p = Wave(p[0]) / p[1] + rsqrt(p[2]); }
