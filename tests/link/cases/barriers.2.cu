// SPDX-License-Identifier: Apache-2.0
__device__ void Nine();
__global__ void None(int* p) {
  Nine();
  *p = 2;
}
__global__ void Any(int* p) { asm volatile("barrier.sync %0;" ::"r"(*p)); }
__global__ void Plain(int* p) { *p = 3; }
