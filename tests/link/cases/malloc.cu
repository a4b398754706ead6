// SPDX-License-Identifier: Apache-2.0
// malloc, free, new and delete on the device.
__device__ __noinline__ int* Make(int n) { return (int*)malloc(n); }
__global__ void Allocate(int** p) { *p = Make(8); }
__global__ void Release(int** p) { free(*p); }
__global__ void Objects(int** p) {
  delete[] p[0];
  p[1] = new int[7];
}
