// SPDX-License-Identifier: Apache-2.0
// Constant memory: used across files, static ones with equal names, unused ones.
__constant__ int factors[16] = {1, 2, 3};
static __constant__ double weight = 3.25;
__constant__ char pad[3];
__global__ void Scale(double* p) { p[threadIdx.x] *= factors[threadIdx.x] * weight + pad[1]; }
