// SPDX-License-Identifier: Apache-2.0
// Code for a newer architecture is refused.
// archs: 80
// flags: -arch=sm_86
// expect: error
__global__ void Kernel(int* p) { *p = 1; }
