// SPDX-License-Identifier: Apache-2.0
#include "scene.h"

namespace {

__device__ Vec OnUnitSphere(unsigned* seed) {
  const float z = 2.0f * Random(seed) - 1.0f;
  const float angle = 6.2831853f * Random(seed);
  const float r = sqrtf(fmaxf(0.0f, 1.0f - z * z));
  return {r * cosf(angle), r * sinf(angle), z};
}

__device__ bool Matte(const Ray&, const Hit& hit, unsigned* seed, Vec* colour, Ray* scattered) {
  *colour = {0.7f, 0.6f, 0.5f};
  // The small push along the normal keeps the sum from being zero.
  *scattered = {hit.point, Normalized(hit.normal * 1.001f + OnUnitSphere(seed))};
  return true;
}

__device__ bool Mirror(const Ray& in, const Hit& hit, unsigned*, Vec* colour, Ray* scattered) {
  *colour = {0.9f, 0.9f, 0.9f};
  const Vec out = in.direction - hit.normal * (2.0f * Dot(in.direction, hit.normal));
  *scattered = {hit.point, Normalized(out)};
  return true;
}

__device__ bool Light(const Ray&, const Hit&, unsigned*, Vec* colour, Ray*) {
  *colour = {4.0f, 3.8f, 3.5f};
  return false;
}

}  // namespace

// In the order of Material.
__device__ Scatter scatter_table[kMaterialCount] = {Matte, Mirror, Light};
