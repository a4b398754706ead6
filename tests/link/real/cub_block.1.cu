// SPDX-License-Identifier: Apache-2.0
// CUB block and warp primitives in kernels of several shapes.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

__device__ int Transform(int x);

template <int kThreads>
__global__ void Sum(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(Transform(in[blockIdx.x * kThreads + threadIdx.x]));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
template __global__ void Sum<128>(const int*, int*);
template __global__ void Sum<256>(const int*, int*);

__global__ void Prefix(int* data) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ Scan::TempStorage storage;
  int value = Transform(data[threadIdx.x]);
  Scan(storage).InclusiveSum(value, value);
  data[threadIdx.x] = value;
}
