// SPDX-License-Identifier: Apache-2.0
// Barrier objects in shared memory.
// archs: 80 90
#include <cuda/barrier>
__device__ __noinline__ int Meet(cuda::barrier<cuda::thread_scope_block>& b) {
  b.arrive_and_wait();
  return 1;
}
__global__ void Kernel(int* p) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  *p = Meet(b);
}
