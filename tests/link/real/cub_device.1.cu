// SPDX-License-Identifier: Apache-2.0
// CUB device-wide algorithms: kernels of a library, instantiated in two files.
#include <cub/device/device_reduce.cuh>

struct Weigh {
  __device__ int operator()(int a, int b) const;
};

cudaError_t SumAll(void* temp, size_t& bytes, const int* in, int* out, int n) {
  return cub::DeviceReduce::Sum(temp, bytes, in, out, n);
}

cudaError_t WeighAll(void* temp, size_t& bytes, const int* in, int* out, int n) {
  return cub::DeviceReduce::Reduce(temp, bytes, in, out, n, Weigh{}, 0);
}
