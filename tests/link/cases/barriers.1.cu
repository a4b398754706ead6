// SPDX-License-Identifier: Apache-2.0
// Numbered barriers: the highest that a kernel reaches counts.
__device__ void Nine() { asm volatile("bar.sync 9;"); }
__global__ void Raised(int* p) {
  __syncthreads();
  Nine();
  *p = 1;
}
