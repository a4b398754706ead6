// SPDX-License-Identifier: Apache-2.0
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/reduce.h>

struct Saxpy {
  float a;
  __device__ float operator()(float x, float y) const;
};
__device__ float Saxpy::operator()(float x, float y) const { return a * x + y; }

struct Halve {
  __device__ void operator()(float& x) const { x /= 2; }
};

void HalveAll(thrust::device_vector<float>& x) { thrust::for_each(x.begin(), x.end(), Halve{}); }

float TotalToo(const thrust::device_vector<float>& x) { return thrust::reduce(x.begin(), x.end()); }
