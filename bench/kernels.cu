// SPDX-License-Identifier: Apache-2.0
//
// One unit of the program that measures the assembling of PTX, compiled once for every UNIT: tiles
// of a matrix in shared memory, mathematics in both precisions, a scan, printf, and a call into the
// unit NEXT.
#include <cstdio>

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define OF_UNIT(name) JOIN(name, UNIT)

extern __device__ float JOIN(series_, NEXT)(float x, int n);

__device__ float OF_UNIT(series_)(float x, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += sinf(x * i) * powf(x, 1.0f / (i + UNIT + 1));
  return sum;
}

template <int kTile>
__device__ void MultiplyTile(const float* a, const float* b, float* c, int n) {
  __shared__ float of_a[kTile][kTile];
  __shared__ float of_b[kTile][kTile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * kTile + y;
  const int column = blockIdx.x * kTile + x;
  float sum = 0;
  for (int tile = 0; tile < n / kTile; ++tile) {
    of_a[y][x] = a[row * n + tile * kTile + x];
    of_b[y][x] = b[(tile * kTile + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += of_a[y][k] * of_b[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void OF_UNIT(multiply16_)(const float* a, const float* b, float* c, int n) {
  MultiplyTile<16>(a, b, c, n);
}
__global__ void OF_UNIT(multiply32_)(const float* a, const float* b, float* c, int n) {
  MultiplyTile<32>(a, b, c, n);
}

__global__ void OF_UNIT(transcend_)(double* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double value = values[i];
  values[i] = exp(value) + log(value) + atan2(value, double(UNIT)) + tgamma(value);
}

__global__ void OF_UNIT(call_)(float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  values[i] = JOIN(series_, NEXT)(values[i], n) + OF_UNIT(series_)(values[i], n);
  if (values[i] > 1e9f) printf("%d: %f\n", i, values[i]);
}

__global__ void OF_UNIT(scan_)(int* data) {
  constexpr int kThreads = 1024;
  __shared__ int sums[kThreads];
  const int thread = threadIdx.x;
  sums[thread] = data[blockIdx.x * kThreads + thread];
  __syncthreads();
#pragma unroll
  for (int distance = 1; distance < kThreads; distance *= 2) {
    const int before = thread >= distance ? sums[thread - distance] : 0;
    __syncthreads();
    sums[thread] += before;
    __syncthreads();
  }
  data[blockIdx.x * kThreads + thread] = sums[thread] / (UNIT + 3);
}
