// SPDX-License-Identifier: Apache-2.0
#include "declarations.h"

class Base {
 public:
  __device__ virtual int Value() const = 0;
};
class Derived : public Base {
 public:
  __device__ int Value() const override { return 5; }
};

__device__ Derived derived;

__device__ int InLibrary(int x) {
  const Base& base = derived;
  return base.Value() * x;
}
