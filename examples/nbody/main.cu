// SPDX-License-Identifier: Apache-2.0
//
// n-body: gravity between all pairs of bodies, stepped with the leapfrog scheme. Constant memory
// that one unit defines and three read, and device functions called across units.
#include <cmath>
#include <cstdio>
#include <vector>

#include "nbody.h"

// Bodies are (x, y, z, mass). Two buffers, because a step reads every body while it writes.
__global__ void __launch_bounds__(kTileSize)
    Step(const float4* bodies, float4* next, float3* velocities) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // Threads past the end still help to load tiles; they act as a body at the origin.
  const float4 body = i < params.body_count ? bodies[i] : make_float4(0, 0, 0, 0);
  const float3 a = Acceleration(body, bodies);
  if (i >= params.body_count) return;
  const float dt = params.time_step;
  float3 v = velocities[i];
  v.x += a.x * dt;
  v.y += a.y * dt;
  v.z += a.z * dt;
  velocities[i] = v;
  next[i] = make_float4(body.x + v.x * dt, body.y + v.y * dt, body.z + v.z * dt, body.w);
}

__global__ void KineticEnergy(const float4* bodies, const float3* velocities, float* energy) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float mine = 0;
  if (i < params.body_count) {
    const float3 v = velocities[i];
    mine = 0.5f * bodies[i].w * (v.x * v.x + v.y * v.y + v.z * v.z);
  }
  const float sum = BlockSum(mine);
  if (threadIdx.x == 0) atomicAdd(energy, sum);
}

int main() {
  const int count = 1000;
  const SimulationParams host_params{1e-3f, 1e-4f, 1.0f, count};
  std::vector<float4> bodies(count);
  for (int i = 0; i < count; ++i) {
    const float angle = 0.1f * static_cast<float>(i);
    const float radius = 1.0f + 0.001f * static_cast<float>(i);
    bodies[i] = make_float4(radius * std::cos(angle), radius * std::sin(angle), 0.0f, 1.0f / count);
  }
  float4* current;
  float4* next;
  float3* velocities;
  float* energy;
  cudaMalloc(&current, count * sizeof(float4));
  cudaMalloc(&next, count * sizeof(float4));
  cudaMalloc(&velocities, count * sizeof(float3));
  cudaMalloc(&energy, sizeof(float));
  cudaMemcpy(current, bodies.data(), count * sizeof(float4), cudaMemcpyHostToDevice);
  cudaMemset(velocities, 0, count * sizeof(float3));
  cudaMemset(energy, 0, sizeof(float));
  cudaMemcpyToSymbol(params, &host_params, sizeof(host_params));
  const int blocks = (count + kTileSize - 1) / kTileSize;
  for (int step = 0; step < 100; ++step) {
    Step<<<blocks, kTileSize>>>(current, next, velocities);
    float4* const swap = current;
    current = next;
    next = swap;
  }
  KineticEnergy<<<blocks, kTileSize>>>(current, velocities, energy);
  float result = 0;
  cudaMemcpy(&result, energy, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("kinetic energy after 100 steps: %f (%s)\n", result,
              cudaGetErrorString(cudaGetLastError()));
  // Started at rest, the disc must have begun to fall inwards.
  return std::isfinite(result) && result > 0 ? 0 : 1;
}
