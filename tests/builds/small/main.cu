// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "small.h"

__global__ void Kernel(int* data) { *data = Callee(*data) + table[*data & 1].apply(*data); }
__global__ void Other(int* data) { *data = InLibrary(*data); }

int main() {
  int* data = nullptr;
  if (cudaMalloc(&data, sizeof(int)) != cudaSuccess) return 1;
  Kernel<<<1, 1>>>(data);
  Other<<<1, 1>>>(data);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
