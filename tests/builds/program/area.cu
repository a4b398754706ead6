// SPDX-License-Identifier: Apache-2.0
// Calls through a table of virtual functions that another unit has, and device memory.
#include "program.h"

class Circle : public Shape {
 public:
  __device__ explicit Circle(int radius) : radius_(radius) {}
  __device__ int Area(int scale) const override { return 3 * radius_ * radius_ * scale; }

 private:
  int radius_;
};

__device__ int Area(int x) {
  Shape* shape = (x & 1) != 0 ? MakeSquare(x) : new Circle(x);
  const int area = shape->Area(2);
  delete shape;
  return area;
}
