// SPDX-License-Identifier: Apache-2.0
// The cuRAND device library: generators whose tables stand in constant and global memory twice.
#include <curand_kernel.h>

__device__ float Draw(curandStatePhilox4_32_10_t* state);

__global__ void Setup(curandState* states, unsigned long long seed) {
  curand_init(seed, threadIdx.x, 0, &states[threadIdx.x]);
}

__global__ void Uniform(curandState* states, float* out) {
  out[threadIdx.x] = curand_uniform(&states[threadIdx.x]);
}

__global__ void Philox(curandStatePhilox4_32_10_t* states, float* out) {
  out[threadIdx.x] = Draw(&states[threadIdx.x]);
}
