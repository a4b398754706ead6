// SPDX-License-Identifier: Apache-2.0
// Virtual calls of objects whose classes another unit defines, and of one that this one derives.
// out: 25 4 12 0 99 3 2
#include "virtual.h"

extern __device__ unsigned destroyed;

struct Triangle : Shape {
  __device__ unsigned Area() const override { return 99; }
  __device__ unsigned Corners() const override { return 3; }
};

extern "C" __global__ void run(unsigned* out) {
  Shape* shapes[3] = {NewSquare(5), NewBar(3, 4), new Triangle};
  for (unsigned i = 0; i < 3; ++i) {
    out[2 * i] = shapes[i]->Area();
    out[2 * i + 1] = shapes[i]->Corners();
    delete shapes[i];
  }
  out[6] = destroyed;
}
