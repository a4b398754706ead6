// SPDX-License-Identifier: Apache-2.0
#pragma once

struct Shape {
  __device__ virtual unsigned Area() const = 0;
  __device__ virtual unsigned Corners() const { return 0; }
  __device__ virtual ~Shape() {}
};

// Made and unmade where they are defined.
__device__ Shape* NewSquare(unsigned side);
__device__ Shape* NewBar(unsigned width, unsigned height);
