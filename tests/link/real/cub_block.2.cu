// SPDX-License-Identifier: Apache-2.0
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>

__device__ int Transform(int x) { return x * 3 + 1; }

__global__ void Sort(float* data) {
  using Radix = cub::BlockRadixSort<float, 64, 2>;
  __shared__ Radix::TempStorage storage;
  float keys[2] = {data[threadIdx.x * 2], data[threadIdx.x * 2 + 1]};
  Radix(storage).Sort(keys);
  data[threadIdx.x * 2] = keys[0];
  data[threadIdx.x * 2 + 1] = keys[1];
}

__global__ void Largest(const double* in, double* out) {
  using Reduce = cub::BlockReduce<double, 128>;
  __shared__ Reduce::TempStorage storage;
  const double sum = Reduce(storage).Sum(in[threadIdx.x] / (1.0 + threadIdx.x));
  if (threadIdx.x == 0) *out = sum;
}
