// SPDX-License-Identifier: Apache-2.0
#include "program.h"

template <typename T, int N>
class Ring {
 public:
  __device__ void Push(T value) { values_[next_++ % N] = value; }
  __device__ T Sum() const {
    T sum = 0;
    for (const T& value : values_) sum += value;
    return sum;
  }

 private:
  T values_[N] = {};
  unsigned next_ = 0;
};
template class Ring<int, 4>;
template class Ring<float, 6>;

__device__ int Templates(int x) {
  Ring<int, 4> ints;
  Ring<float, 6> floats;
  for (int i = 0; i < x; ++i) {
    ints.Push(Turn<7>(i));
    floats.Push(static_cast<float>(i));
  }
  return ints.Sum() + static_cast<int>(floats.Sum());
}
