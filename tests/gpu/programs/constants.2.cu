// SPDX-License-Identifier: Apache-2.0
__constant__ unsigned weights[3] = {100, 200, 300};

__device__ unsigned Weighted(unsigned index) { return weights[index]; }

// The factor is a constant that the compiler keeps in its own bank: 210 * 0.0333333333 + 0.5.
__device__ unsigned Rounded(double value) {
  return static_cast<unsigned>(value * 0.033333333333333333 + 0.5);
}
