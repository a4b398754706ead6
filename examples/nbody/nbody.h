// SPDX-License-Identifier: Apache-2.0
//
// What the units of the n-body program share.
#ifndef EXAMPLES_NBODY_NBODY_H_
#define EXAMPLES_NBODY_NBODY_H_

struct SimulationParams {
  float time_step;
  float softening_squared;  // keeps close encounters finite
  float gravity;
  int body_count;
};

// Set by the host before the first step. Defined in params.cu.
extern __constant__ SimulationParams params;

constexpr int kTileSize = 128;

// forces.cu: the acceleration of a body at `position`. All threads of a block must call it
// together.
__device__ float3 Acceleration(float4 position, const float4* bodies);

// energy.cu: adds a block's values up; the sum is valid in thread 0.
__device__ float BlockSum(float value);

#endif  // EXAMPLES_NBODY_NBODY_H_
