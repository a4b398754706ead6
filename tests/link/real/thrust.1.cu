// SPDX-License-Identifier: Apache-2.0
// Thrust: transformations and reductions with functors whose bodies are in another file.
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>

struct Saxpy {
  float a;
  __device__ float operator()(float x, float y) const;
};

void Combine(const thrust::device_vector<float>& x, thrust::device_vector<float>& y) {
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Saxpy{2.5f});
}

float Total(const thrust::device_vector<float>& x) { return thrust::reduce(x.begin(), x.end()); }
