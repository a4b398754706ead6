// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of 1024 points, one per block, and a convolution with them. Shared memory that
// crosses units through pointers, cooperative groups, and the mathematical library.
#include <cmath>
#include <cstdio>
#include <vector>

#include "fft.h"

namespace cg = cooperative_groups;

__global__ void FillTwiddles() {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= kPoints / 2) return;
  float s;
  float c;
  sincospif(-2.0f * static_cast<float>(k) / kPoints, &s, &c);
  twiddles[k] = make_float2(c, s);
}

__global__ void __launch_bounds__(kThreads) Forward(float2* signals) {
  __shared__ float2 points[kPoints];
  const cg::thread_block block = cg::this_thread_block();
  float2* const mine = signals + static_cast<size_t>(blockIdx.x) * kPoints;
  for (int i = block.thread_rank(); i < kPoints; i += block.size()) points[i] = mine[i];
  block.sync();
  Transform(block, points, false);
  for (int i = block.thread_rank(); i < kPoints; i += block.size()) mine[i] = points[i];
}

// Convolves each signal with one filter, given as its spectrum.
__global__ void __launch_bounds__(kThreads) Convolve(float2* signals, const float2* filter) {
  __shared__ float2 points[kPoints];
  const cg::thread_block block = cg::this_thread_block();
  float2* const mine = signals + static_cast<size_t>(blockIdx.x) * kPoints;
  for (int i = block.thread_rank(); i < kPoints; i += block.size()) points[i] = mine[i];
  block.sync();
  Transform(block, points, false);
  for (int i = block.thread_rank(); i < kPoints; i += block.size()) {
    points[i] = Multiply(points[i], filter[i]);
  }
  block.sync();
  Transform(block, points, true);
  for (int i = block.thread_rank(); i < kPoints; i += block.size()) mine[i] = points[i];
}

int main() {
  const int signals = 8;
  std::vector<float2> host(signals * kPoints);
  for (size_t i = 0; i < host.size(); ++i) {
    host[i] = make_float2(std::sin(0.01f * static_cast<float>(i)), 0.0f);
  }
  // The spectrum of a unit impulse is one everywhere, so the convolution must change nothing.
  std::vector<float2> impulse(kPoints, make_float2(0, 0));
  impulse[0].x = 1;
  float2* data;
  float2* filter;
  cudaMalloc(&data, host.size() * sizeof(float2));
  cudaMalloc(&filter, kPoints * sizeof(float2));
  cudaMemcpy(data, host.data(), host.size() * sizeof(float2), cudaMemcpyHostToDevice);
  cudaMemcpy(filter, impulse.data(), kPoints * sizeof(float2), cudaMemcpyHostToDevice);
  FillTwiddles<<<2, 256>>>();
  Forward<<<1, kThreads>>>(filter);
  Convolve<<<signals, kThreads>>>(data, filter);
  std::vector<float2> result(host.size());
  cudaMemcpy(result.data(), data, result.size() * sizeof(float2), cudaMemcpyDeviceToHost);
  float worst = 0;
  for (size_t i = 0; i < host.size(); ++i) {
    worst = std::fmax(worst, std::fabs(result[i].x - host[i].x) + std::fabs(result[i].y));
  }
  std::printf("largest difference: %g (%s)\n", worst, cudaGetErrorString(cudaGetLastError()));
  return worst < 1e-4f ? 0 : 1;
}
