// SPDX-License-Identifier: Apache-2.0
//
// What the units of the integration share.
#ifndef EXAMPLES_MONTE_CARLO_MONTE_CARLO_H_
#define EXAMPLES_MONTE_CARLO_MONTE_CARLO_H_

#include <curand_kernel.h>

struct Region {
  double low;
  double high;
};

struct Estimate {
  double value;
  double variance;
};

// integrand.cu
__device__ double Integrand(double x);

// stratify.cu: integrates over `region`, and halves it while the estimate is too uncertain.
__device__ Estimate Integrate(Region region, int depth, double tolerance,
                              curandStatePhilox4_32_10_t* random);

#endif  // EXAMPLES_MONTE_CARLO_MONTE_CARLO_H_
