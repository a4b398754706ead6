// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects, passed by value.
__device__ __noinline__ float Sample(cudaTextureObject_t t, float x) {
  return tex2D<float>(t, x, x);
}
__global__ void Read(cudaTextureObject_t t, float* p) { *p = Sample(t, *p) + tex1D<float>(t, 1.f); }
__global__ void Write(cudaSurfaceObject_t s, float v) { surf2Dwrite(v, s, 4, 5); }
