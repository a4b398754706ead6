// SPDX-License-Identifier: Apache-2.0
// libcu++: atomics, barriers and asynchronous copies shared between files.
// archs: 80 90
#include <cuda/atomic>
#include <cuda/barrier>

__device__ cuda::atomic<int, cuda::thread_scope_device> counter;
__device__ int Ticket();
using Barrier = cuda::barrier<cuda::thread_scope_block>;
__device__ void Arrive(Barrier& barrier);

__global__ void Count(int* out) {
  out[threadIdx.x] = Ticket() + counter.load(cuda::std::memory_order_acquire);
}

__global__ void Copy(const int4* in, int4* out) {
  __shared__ Barrier barrier;
  __shared__ int4 tile[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int4), barrier);
  Arrive(barrier);
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
