// SPDX-License-Identifier: Apache-2.0
// Shared memory of a kernel, of a function of another unit, and of a size that the launch decides.
// threads: 64
// dynamic: 256
// out: 2016 2080 64 127
extern __shared__ unsigned room[];

__device__ unsigned SumOfBlock(unsigned value);

extern "C" __global__ void run(unsigned* out) {
  __shared__ unsigned mine[64];
  mine[threadIdx.x] = threadIdx.x;
  room[threadIdx.x] = 2 * threadIdx.x + 1;
  __syncthreads();
  const unsigned sum = SumOfBlock(mine[63 - threadIdx.x]);
  const unsigned other = SumOfBlock(mine[threadIdx.x] + 1);
  if (threadIdx.x == 0) {
    out[0] = sum;
    out[1] = other;
    out[2] = blockDim.x;
    out[3] = room[63];
  }
}
