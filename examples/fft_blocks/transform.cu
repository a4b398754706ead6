// SPDX-License-Identifier: Apache-2.0
#include "fft.h"

namespace cg = cooperative_groups;

__device__ void Transform(cg::thread_block block, float2* points, bool inverse) {
  // The butterflies below take their input in bit-reversed order.
  for (int i = block.thread_rank(); i < kPoints; i += block.size()) {
    const int j = static_cast<int>(__brev(static_cast<unsigned>(i)) >> (32 - kStages));
    if (i < j) {
      const float2 swap = points[i];
      points[i] = points[j];
      points[j] = swap;
    }
  }
  block.sync();
  for (int stage = 0; stage < kStages; ++stage) {
    const int half = 1 << stage;
    for (int t = block.thread_rank(); t < kPoints / 2; t += block.size()) {
      const int k = t & (half - 1);
      const int low = ((t >> stage) << (stage + 1)) + k;
      float2 w = twiddles[k << (kStages - 1 - stage)];
      if (inverse) w.y = -w.y;
      const float2 a = points[low];
      const float2 b = Multiply(points[low + half], w);
      points[low] = make_float2(a.x + b.x, a.y + b.y);
      points[low + half] = make_float2(a.x - b.x, a.y - b.y);
    }
    block.sync();
  }
  if (inverse) {
    for (int i = block.thread_rank(); i < kPoints; i += block.size()) {
      points[i].x /= kPoints;
      points[i].y /= kPoints;
    }
    block.sync();
  }
}
