// SPDX-License-Identifier: Apache-2.0
// A reference seen before the weak definition keeps its place among the global symbols.
__device__ int Twice(int x);
__global__ void First(int* p) { *p = Twice(*p); }
