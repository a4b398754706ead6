// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "program.h"

__global__ void Everything(int* data) {
  int x = data[threadIdx.x];
  x += Area(x) + Atomic(x) + Bounded(x) + Constant(x) + Dynamic(x) + Factorial(x & 7) + Half(x);
  x += Inline(x) + Log(x) + Math(x) + PointedTo(x) + Shared(x) + StaticA(x) + StaticB(x);
  x += Templates(x) + Warp(x) + Wide(x) + LibraryFirst(x) + Mix(x);
  data[threadIdx.x] = x;
}

// Nobody launches it.
__global__ void Unused(int* data) { *data = LibrarySecond(*data); }

int main() {
  int* data = nullptr;
  if (cudaMallocManaged(&data, 64 * sizeof(int)) != cudaSuccess) return 1;
  Everything<<<1, 64, 1024>>>(data);
  RunCooperative(data);
  RunLambdas(data);
  RunLaunch(data);
#ifndef WITHOUT_CUB
  RunReduce(data);
#endif
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
