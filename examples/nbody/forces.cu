// SPDX-License-Identifier: Apache-2.0
#include "nbody.h"

namespace {

// Bodies go through shared memory one tile at a time, so that each is read once per block.
__shared__ float4 tile[kTileSize];

__device__ void AddPull(float4 from, float4 by, float3* acceleration) {
  const float dx = by.x - from.x;
  const float dy = by.y - from.y;
  const float dz = by.z - from.z;
  const float distance_squared = dx * dx + dy * dy + dz * dz + params.softening_squared;
  const float inverse = rsqrtf(distance_squared);
  const float scale = params.gravity * by.w * inverse * inverse * inverse;
  acceleration->x += dx * scale;
  acceleration->y += dy * scale;
  acceleration->z += dz * scale;
}

}  // namespace

__device__ float3 Acceleration(float4 position, const float4* bodies) {
  float3 acceleration = make_float3(0, 0, 0);
  for (int start = 0; start < params.body_count; start += kTileSize) {
    const int mine = start + static_cast<int>(threadIdx.x);
    // A body without mass pulls nothing, so the last tile needs no special loop.
    tile[threadIdx.x] = mine < params.body_count ? bodies[mine] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < kTileSize; ++j) AddPull(position, tile[j], &acceleration);
    __syncthreads();
  }
  return acceleration;
}
