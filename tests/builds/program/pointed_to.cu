// SPDX-License-Identifier: Apache-2.0
// A table of functions of other units.
#include "program.h"

__device__ Step steps[3] = {{Inline, 1}, {Factorial, 2}, {Math, 3}};
__device__ Step* first_step = &steps[1];

__device__ int PointedTo(int x) {
  const Step& step = steps[(x & 0x7fffffff) % 3];
  return step.apply(x & 7) * step.weight + first_step->weight + managed_total;
}
