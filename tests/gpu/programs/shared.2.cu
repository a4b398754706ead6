// SPDX-License-Identifier: Apache-2.0
__device__ unsigned SumOfBlock(unsigned value) {
  __shared__ unsigned partial[64];
  __syncthreads();
  partial[threadIdx.x] = value;
  __syncthreads();
  for (unsigned step = 32; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  return partial[0];
}
