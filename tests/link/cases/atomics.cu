// SPDX-License-Identifier: Apache-2.0
// Atomic operations on global and shared memory.
__device__ unsigned long long total;
__device__ __noinline__ void Add(double* p, double v) { atomicAdd(p, v); }
__global__ void Kernel(double* p, int* q) {
  __shared__ int local;
  atomicMax(&local, q[0]);
  __syncthreads();
  Add(p, local);
  atomicAdd_system(&total, 3ull);
  q[1] = atomicCAS(q, 3, 4);
}
