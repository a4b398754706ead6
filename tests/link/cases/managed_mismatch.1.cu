// SPDX-License-Identifier: Apache-2.0
// A managed variable that is declared as an ordinary one.
// expect: error
extern __device__ int state;
__global__ void Kernel(int* p) { *p = state; }
