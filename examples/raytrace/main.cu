// SPDX-License-Identifier: Apache-2.0
//
// Ray tracer: shapes with virtual functions and materials in a table of function pointers, so that
// nearly every call goes through an address that only the linker knows.
#include <cstdio>
#include <vector>

#include "scene.h"

constexpr int kMaxShapes = 8;
constexpr int kMaxBounces = 6;

__device__ Shape* shapes[kMaxShapes];
__device__ int shape_count;

__global__ void BuildScene() {
  int n = 0;
  shapes[n++] = NewFloor(-1.0f, kMatte);
  shapes[n++] = NewSphere({0.0f, 0.0f, -4.0f}, 1.0f, kMirror);
  shapes[n++] = NewSphere({-1.8f, -0.4f, -3.5f}, 0.6f, kMatte);
  shapes[n++] = NewSphere({1.5f, 3.0f, -3.0f}, 1.2f, kLight);
  shape_count = n;
}

__global__ void DestroyScene() {
  for (int i = 0; i < shape_count; ++i) delete shapes[i];
  shape_count = 0;
}

__device__ bool Nearest(const Ray& ray, Hit* hit) {
  bool found = false;
  float nearest = 1e30f;
  for (int i = 0; i < shape_count; ++i) {
    if (shapes[i]->Intersect(ray, nearest, hit)) {
      nearest = hit->distance;
      found = true;
    }
  }
  return found;
}

__device__ Vec Trace(Ray ray, unsigned* seed) {
  Vec weight{1, 1, 1};
  for (int bounce = 0; bounce < kMaxBounces; ++bounce) {
    Hit hit;
    if (!Nearest(ray, &hit)) {
      const float t = 0.5f * (ray.direction.y + 1.0f);
      return weight * Vec{0.9f - 0.4f * t, 0.9f - 0.2f * t, 1.0f};
    }
    Vec colour;
    Ray scattered;
    const bool follow = scatter_table[hit.material](ray, hit, seed, &colour, &scattered);
    weight = weight * colour;
    if (!follow) return weight;
    ray = scattered;
  }
  return {0, 0, 0};
}

__global__ void Render(Vec* image, int width, int height, int samples) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  unsigned seed = static_cast<unsigned>(y * width + x) * 9781u + 1u;
  Vec sum{0, 0, 0};
  for (int s = 0; s < samples; ++s) {
    const float u = (static_cast<float>(x) + Random(&seed)) / static_cast<float>(width);
    const float v = (static_cast<float>(y) + Random(&seed)) / static_cast<float>(height);
    const Ray ray{{0, 0, 0}, Normalized({2.0f * u - 1.0f, 1.0f - 2.0f * v, -1.5f})};
    sum = sum + Trace(ray, &seed);
  }
  image[y * width + x] = sum * (1.0f / static_cast<float>(samples));
}

int main() {
  const int width = 160;
  const int height = 120;
  Vec* image;
  cudaMalloc(&image, width * height * sizeof(Vec));
  BuildScene<<<1, 1>>>();
  Render<<<dim3(width / 16, (height + 7) / 8), dim3(16, 8)>>>(image, width, height, 16);
  DestroyScene<<<1, 1>>>();
  std::vector<Vec> pixels(width * height);
  cudaMemcpy(pixels.data(), image, pixels.size() * sizeof(Vec), cudaMemcpyDeviceToHost);
  double mean = 0;
  for (const Vec& p : pixels) mean += p.x + p.y + p.z;
  mean /= 3.0 * static_cast<double>(pixels.size());
  std::printf("mean brightness: %f (%s)\n", mean, cudaGetErrorString(cudaGetLastError()));
  return mean > 0.1 && mean < 4.0 ? 0 : 1;
}
