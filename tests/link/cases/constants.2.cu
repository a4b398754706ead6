// SPDX-License-Identifier: Apache-2.0
extern __constant__ int factors[16];
static __constant__ double weight = 7.5;
__constant__ long long big[5];
__global__ void Add(double* p) { p[threadIdx.x] += factors[3] * weight + big[threadIdx.x]; }
