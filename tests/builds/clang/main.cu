// SPDX-License-Identifier: Apache-2.0
#include "declarations.h"

__device__ int Callee(int x);
__constant__ int table[4] = {1, 2, 3, 4};

template <typename T>
__global__ void Kernel(T* data) {
  __shared__ T room[32];
  room[threadIdx.x & 31] = Callee(*data) + table[threadIdx.x & 3];
  *data = room[0];
}

int main() {
  Kernel<<<1, 32>>>(static_cast<int*>(nullptr));
  return cudaDeviceSynchronize() == 0 ? 0 : 1;
}
