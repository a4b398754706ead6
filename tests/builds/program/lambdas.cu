// SPDX-License-Identifier: Apache-2.0
// Kernels that are made for a lambda.
#include "program.h"

template <typename Function>
__global__ void ForEach(int* data, Function function) {
  data[threadIdx.x] = function(data[threadIdx.x]);
}

void RunLambdas(int* data) {
  const int more = 5;
  ForEach<<<1, 32>>>(data, [=] __device__(int x) { return Mix(x) + more; });
  ForEach<<<1, 32>>>(data, [] __device__(int x) { return PointedTo(x) * 2; });
}
