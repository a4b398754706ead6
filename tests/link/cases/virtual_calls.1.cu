// SPDX-License-Identifier: Apache-2.0
// Virtual functions and their tables, objects made in one file and used in another.
#include "virtual_calls.h"
__device__ int Square::Area() { return side * side; }
__global__ void Make(Shape** p) { *p = new Square; }
