// SPDX-License-Identifier: Apache-2.0
#include "virtual.h"

__device__ unsigned destroyed;

struct Square : Shape {
  __device__ explicit Square(unsigned side) : side_(side) {}
  __device__ ~Square() override { ++destroyed; }
  __device__ unsigned Area() const override { return side_ * side_; }
  __device__ unsigned Corners() const override { return 4; }
  unsigned side_;
};

struct Bar : Shape {
  __device__ Bar(unsigned width, unsigned height) : width_(width), height_(height) {}
  __device__ ~Bar() override { ++destroyed; }
  __device__ unsigned Area() const override { return width_ * height_; }
  unsigned width_;
  unsigned height_;
};

__device__ Shape* NewSquare(unsigned side) { return new Square(side); }
__device__ Shape* NewBar(unsigned width, unsigned height) { return new Bar(width, height); }
