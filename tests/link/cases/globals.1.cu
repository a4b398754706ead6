// SPDX-License-Identifier: Apache-2.0
// Global variables of many types, initialised and not, defined here and used from another file.
__device__ int counter;
__device__ double table[7] = {1.5, 2.5};
__device__ char text[5] = {'a', 'b'};
__device__ short unused[3];
__device__ int* pointer = &counter;
__device__ float4 vectors[2];
__global__ void Read(int* out) {
  out[0] = counter + (int)table[out[1]] + text[2] + (int)vectors[1].x;
}
