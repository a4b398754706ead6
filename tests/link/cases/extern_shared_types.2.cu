// SPDX-License-Identifier: Apache-2.0
extern __shared__ char bytes[];
__device__ double Get(int i);
__global__ void Mixed(double* p) { *p = Get(1) + bytes[3]; }
__global__ void Other(double* p) { *p = bytes[(int)*p]; }
