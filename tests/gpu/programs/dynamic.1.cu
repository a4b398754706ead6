// SPDX-License-Identifier: Apache-2.0
// Kernels that launch kernels of their own and of another unit; needs the device runtime.
// runtime: yes
// threads: 1
// out: 8 36 1 0
__global__ void Fill(unsigned* out);
__device__ int LaunchSum(unsigned* out);

__device__ unsigned values[8];

__global__ void Fill(unsigned* out) {
  values[threadIdx.x] = threadIdx.x + 1;
  atomicAdd(&out[0], 1);
}

extern "C" __global__ void run(unsigned* out) {
  Fill<<<1, 8>>>(out);
  out[3] = LaunchSum(out);  // the same stream: after Fill
  out[2] = 1;
}
