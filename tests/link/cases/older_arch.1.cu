// SPDX-License-Identifier: Apache-2.0
// Code for an older member of the same family links into a newer one.
// archs: 86 89
// flags: -arch=sm_80
__device__ int Far(int x);
__global__ void Kernel(int* p) { *p = Far(*p); }
