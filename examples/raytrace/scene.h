// SPDX-License-Identifier: Apache-2.0
//
// What the units of the ray tracer share: rays, shapes and materials.
#ifndef EXAMPLES_RAYTRACE_SCENE_H_
#define EXAMPLES_RAYTRACE_SCENE_H_

struct Vec {
  float x, y, z;
};

__host__ __device__ inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__host__ __device__ inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__host__ __device__ inline Vec operator*(Vec a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__host__ __device__ inline Vec operator*(Vec a, Vec b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
__host__ __device__ inline float Dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline Vec Normalized(Vec a) { return a * rsqrtf(Dot(a, a)); }

struct Ray {
  Vec origin;
  Vec direction;  // of length 1
};

struct Hit {
  float distance;
  Vec point;
  Vec normal;
  int material;
};

// A thing that rays can hit. Its objects must be made on the device, for their virtual functions.
class Shape {
 public:
  __device__ explicit Shape(int material) : material_(material) {}
  __device__ virtual ~Shape() {}
  __device__ virtual bool Intersect(const Ray& ray, float nearest, Hit* hit) const = 0;

 protected:
  int material_;
};

// shapes.cu
__device__ Shape* NewSphere(Vec center, float radius, int material);
__device__ Shape* NewFloor(float height, int material);

// materials.cu: how a surface answers a ray. Returns whether `scattered` is to be followed.
using Scatter = bool (*)(const Ray& in, const Hit& hit, unsigned* seed, Vec* colour,
                         Ray* scattered);
enum Material { kMatte, kMirror, kLight, kMaterialCount };
extern __device__ Scatter scatter_table[kMaterialCount];

// A number in [0, 1) and the next state in `seed`. Inline, so every unit has its own weak copy.
__device__ inline float Random(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return static_cast<float>(*seed >> 8) * (1.0f / 16777216.0f);
}

#endif  // EXAMPLES_RAYTRACE_SCENE_H_
