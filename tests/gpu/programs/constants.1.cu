// SPDX-License-Identifier: Apache-2.0
// Constant memory: of two units, set by the host, and of the compiler's own making.
// set: offset 5
// out: 105 210 315 7 30
__constant__ unsigned offset = 1;

extern __constant__ unsigned weights[3];
__device__ unsigned Weighted(unsigned index);
__device__ unsigned Rounded(double value);

extern "C" __global__ void run(unsigned* out) {
  out[0] = weights[0] + offset;
  out[1] = Weighted(1) + 2 * offset;
  out[2] = Weighted(2) + 3 * offset;
  out[3] = Rounded(2.0 * out[0]);
  out[4] = 6 * offset;
}
