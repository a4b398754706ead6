// SPDX-License-Identifier: Apache-2.0
#include "virtual_calls.h"
__device__ int Use(Shape* s) { return s->Area() + s->Corners(); }
__global__ void Measure(Shape** p, int* out) {
  *out = Use(*p);
  delete *p;
}
