// SPDX-License-Identifier: Apache-2.0
//
// What the units of the Fourier transform share.
#ifndef EXAMPLES_FFT_BLOCKS_FFT_H_
#define EXAMPLES_FFT_BLOCKS_FFT_H_

#include <cooperative_groups.h>

constexpr int kPoints = 1024;          // of one transform
constexpr int kThreads = kPoints / 2;  // each does one butterfly per stage
constexpr int kStages = 10;

// twiddles.cu: exp(-2 pi i k / kPoints), filled by FillTwiddles.
extern __device__ float2 twiddles[kPoints / 2];
__device__ float2 Multiply(float2 a, float2 b);

// transform.cu: transforms `points`, in shared memory, in place. A whole block calls it.
__device__ void Transform(cooperative_groups::thread_block block, float2* points, bool inverse);

#endif  // EXAMPLES_FFT_BLOCKS_FFT_H_
