// SPDX-License-Identifier: Apache-2.0
__device__ int Missing(int x);
__device__ int AlsoMissing(int x);
__global__ void Other(int* p) { *p = Missing(*p) + AlsoMissing(*p); }
