// SPDX-License-Identifier: Apache-2.0
extern __device__ int counter;
extern __device__ double table[7];
__device__ char later[13] = {7};
__global__ void Write(int* out) {
  table[out[0]] = counter++;
  later[out[1] & 7] = 3;
}
