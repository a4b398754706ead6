// SPDX-License-Identifier: Apache-2.0
#pragma once

typedef unsigned (*Function)(unsigned);

template <typename T>
__device__ __noinline__ T Square(T x) {
  return x * x + 7;
}
