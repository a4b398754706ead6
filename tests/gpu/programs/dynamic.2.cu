// SPDX-License-Identifier: Apache-2.0
extern __device__ unsigned values[8];

__global__ void Sum(unsigned* out) {
  for (unsigned value : values) out[1] += value;
}

__device__ int LaunchSum(unsigned* out) {
  Sum<<<1, 1>>>(out);
  return static_cast<int>(cudaGetLastError());
}
