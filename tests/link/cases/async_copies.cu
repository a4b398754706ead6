// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies from global to shared memory: a relocation form of their own.
// archs: 80 90
#include <cuda_pipeline.h>
__shared__ int4 landing[64];
__device__ __noinline__ void Fetch(const int4* p) {
  __pipeline_memcpy_async(&landing[threadIdx.x], p, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
}
__global__ void A(int4* p) {
  Fetch(p);
  __syncthreads();
  p[1] = landing[0];
}
__global__ void B(int4* p) {
  __shared__ int4 own[3];
  own[1] = *p;
  Fetch(p);
  __syncthreads();
  p[1] = landing[own[1].x];
}
