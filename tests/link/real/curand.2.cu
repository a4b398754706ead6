// SPDX-License-Identifier: Apache-2.0
#include <curand_kernel.h>

__device__ float Draw(curandStatePhilox4_32_10_t* state) { return curand_normal(state); }

__global__ void Normal(curandState* states, double* out) {
  curandState local = states[threadIdx.x];
  out[threadIdx.x] = curand_normal_double(&local) + curand_log_normal(&local, 0.f, 1.f);
  states[threadIdx.x] = local;
}

__global__ void Setup2(curandStateXORWOW* states) { curand_init(7, 0, 0, states); }
