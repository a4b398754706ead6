// SPDX-License-Identifier: Apache-2.0
// Variables that another unit defines, one that holds the address of another, and ones that the
// host reads and writes by name.
// set: scale 3
// get: total
// out: 4 30 120 7
// got: total 150
extern __device__ unsigned table[4];
extern __device__ unsigned* third;
extern __device__ unsigned total;
__device__ unsigned scale = 1;

__device__ unsigned Add(unsigned value);

extern "C" __global__ void run(unsigned* out) {
  out[0] = table[3];
  out[1] = Add(table[0] * scale);
  out[2] = Add(*third * scale * 10) - out[1];
  *third = 7;
  out[3] = table[2];
}
