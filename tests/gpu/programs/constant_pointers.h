// SPDX-License-Identifier: Apache-2.0
#pragma once

typedef unsigned (*Function)(unsigned);

template <unsigned N>
__device__ __noinline__ unsigned Times(unsigned x) {
  return x * N + (clock64() == 0);
}

static __constant__ Function table[2] = {Times<1>, Times<2>};
