// SPDX-License-Identifier: Apache-2.0
__device__ int Callee(int x) { return x * 3; }
__device__ int Never(int x) { return x * 4; }
__device__ void Store(void** p) { *p = (void*)Never; }
