// SPDX-License-Identifier: Apache-2.0
// References that nothing defines, each reported once, functions before variables.
// expect: error
extern __device__ int missing_variable;
__device__ int Missing(int x);
__device__ int AlsoMissing(int x);
__global__ void Kernel(int* p) { *p = Missing(*p) + missing_variable; }
