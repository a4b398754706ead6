// SPDX-License-Identifier: Apache-2.0
#include "scene.h"

namespace {

// Hits nearer than this are the surface that the ray starts from.
constexpr float kNear = 1e-3f;

class Sphere : public Shape {
 public:
  __device__ Sphere(Vec center, float radius, int material)
      : Shape(material), center_(center), radius_(radius) {}

  __device__ bool Intersect(const Ray& ray, float nearest, Hit* hit) const override {
    const Vec to_origin = ray.origin - center_;
    const float b = Dot(to_origin, ray.direction);
    const float discriminant = b * b - Dot(to_origin, to_origin) + radius_ * radius_;
    if (discriminant < 0) return false;
    const float root = sqrtf(discriminant);
    float distance = -b - root;
    if (distance < kNear) distance = root - b;  // the ray starts inside
    if (distance < kNear || distance >= nearest) return false;
    hit->distance = distance;
    hit->point = ray.origin + ray.direction * distance;
    hit->normal = (hit->point - center_) * (1.0f / radius_);
    hit->material = material_;
    return true;
  }

 private:
  Vec center_;
  float radius_;
};

class Floor : public Shape {
 public:
  __device__ Floor(float height, int material) : Shape(material), height_(height) {}

  __device__ bool Intersect(const Ray& ray, float nearest, Hit* hit) const override {
    if (fabsf(ray.direction.y) < 1e-6f) return false;
    const float distance = (height_ - ray.origin.y) / ray.direction.y;
    if (distance < kNear || distance >= nearest) return false;
    hit->distance = distance;
    hit->point = ray.origin + ray.direction * distance;
    hit->normal = {0, 1, 0};
    hit->material = material_;
    return true;
  }

 private:
  float height_;
};

}  // namespace

__device__ Shape* NewSphere(Vec center, float radius, int material) {
  return new Sphere(center, radius, material);
}

__device__ Shape* NewFloor(float height, int material) { return new Floor(height, material); }
