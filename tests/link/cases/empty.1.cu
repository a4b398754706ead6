// SPDX-License-Identifier: Apache-2.0
// An empty source between others.
__device__ int Far(int x);
__global__ void Kernel(int* p) { *p = Far(*p); }
