// SPDX-License-Identifier: Apache-2.0
// blockIdx.z in a callee marks the kernels that reach it (below sm_90).
__device__ int Depth() { return blockIdx.z; }
__global__ void Uses(int* p) { *p = Depth(); }
