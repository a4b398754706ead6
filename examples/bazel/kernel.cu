// SPDX-License-Identifier: Apache-2.0
__device__ int Callee(int x);

extern "C" __global__ void Kernel(int* data) { *data = Callee(*data); }
