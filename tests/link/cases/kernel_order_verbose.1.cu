// SPDX-License-Identifier: Apache-2.0
// -v lists kernels in the order of their definitions, not of their first mention.
// link-flags: -v
__global__ void later(int* p);
__global__ void middle(int* p) { *p = 2; }
__global__ void first(void** p) {
  p[0] = reinterpret_cast<void*>(later);
  p[1] = reinterpret_cast<void*>(middle);
}
