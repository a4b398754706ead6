// SPDX-License-Identifier: Apache-2.0
// For virtual_calls.*.cu.
#pragma once
struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int Area() = 0;
  __device__ virtual int Corners() { return 0; }
};
struct Square : Shape {
  int side = 3;
  __device__ int Area() override;
  __device__ int Corners() override { return 4; }
};
