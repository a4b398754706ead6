// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

struct Weigh {
  __device__ int operator()(int a, int b) const;
};
__device__ int Weigh::operator()(int a, int b) const { return a * 2 + b; }

cudaError_t SumAgain(void* temp, size_t& bytes, const int* in, int* out, int n) {
  return cub::DeviceReduce::Sum(temp, bytes, in, out, n);
}

cudaError_t Prefix(void* temp, size_t& bytes, const int* in, int* out, int n) {
  return cub::DeviceScan::ExclusiveSum(temp, bytes, in, out, n);
}
