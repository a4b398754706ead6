// SPDX-License-Identifier: Apache-2.0
//
// Monte Carlo integration with regions that divide themselves: recursion, cuRAND on the device, and
// the printf and assert that the driver provides.
#include <cassert>
#include <cmath>
#include <cstdio>

#include "monte_carlo.h"

__global__ void Run(Region whole, double tolerance, unsigned long long seed, double* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int count = gridDim.x * blockDim.x;
  const double width = (whole.high - whole.low) / count;
  curandStatePhilox4_32_10_t random;
  curand_init(seed, static_cast<unsigned long long>(i), 0, &random);
  const Region mine{whole.low + width * i, whole.low + width * (i + 1)};
  const Estimate estimate = Integrate(mine, 0, tolerance / count, &random);
  assert(estimate.variance >= 0);
  if (estimate.variance > tolerance) {
    printf("region %d did not settle: variance %g\n", i, estimate.variance);
  }
  atomicAdd(sum, estimate.value);
}

int main() {
  double* sum;
  cudaMalloc(&sum, sizeof(double));
  cudaMemset(sum, 0, sizeof(double));
  // The recursion is deeper than the compiler can know.
  cudaDeviceSetLimit(cudaLimitStackSize, 16 * 1024);
  Run<<<8, 64>>>({0.0, 3.14159265358979}, 1e-11, 42, sum);
  double result = 0;
  cudaMemcpy(&result, sum, sizeof(double), cudaMemcpyDeviceToHost);
  std::printf("integral: %f (%s)\n", result, cudaGetErrorString(cudaGetLastError()));
  // Of sin(x) over half a turn.
  return std::fabs(result - 2.0) < 1e-2 ? 0 : 1;
}
