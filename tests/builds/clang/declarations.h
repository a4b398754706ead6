// SPDX-License-Identifier: Apache-2.0
//
// The little of CUDA's headers that the units here use. Clang 19 does not read those of CUDA 13.
#pragma once

#include <cstddef>

#define __constant__ __attribute__((constant))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))

struct dim3 {
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
  unsigned x, y, z;
};
struct uint3 {
  unsigned x, y, z;
};
// Clang's own: threadIdx and the like.
#include "__clang_cuda_builtin_vars.h"

struct CUstream_st;
extern "C" int cudaDeviceSynchronize();
extern "C" int cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                std::size_t shared, CUstream_st* stream);
extern "C" int __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared = 0,
                                           CUstream_st* stream = nullptr);
