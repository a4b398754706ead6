// SPDX-License-Identifier: Apache-2.0
#include <cassert>

#include "monte_carlo.h"

namespace {

constexpr int kSamples = 32;
constexpr int kMaxDepth = 8;

__device__ Estimate Sample(Region region, curandStatePhilox4_32_10_t* random) {
  const double width = region.high - region.low;
  double sum = 0;
  double squares = 0;
  for (int s = 0; s < kSamples; ++s) {
    const double y = width * Integrand(region.low + width * curand_uniform_double(random));
    sum += y;
    squares += y * y;
  }
  const double mean = sum / kSamples;
  // Rounding can bring the difference just below zero.
  return {mean, fmax(0.0, squares / kSamples - mean * mean) / kSamples};
}

}  // namespace

__device__ Estimate Integrate(Region region, int depth, double tolerance,
                              curandStatePhilox4_32_10_t* random) {
  assert(region.low <= region.high);
  const Estimate whole = Sample(region, random);
  if (whole.variance <= tolerance || depth == kMaxDepth) return whole;
  const double middle = 0.5 * (region.low + region.high);
  const Estimate left = Integrate({region.low, middle}, depth + 1, 0.5 * tolerance, random);
  const Estimate right = Integrate({middle, region.high}, depth + 1, 0.5 * tolerance, random);
  return {left.value + right.value, left.variance + right.variance};
}
