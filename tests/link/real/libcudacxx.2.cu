// SPDX-License-Identifier: Apache-2.0
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/complex>

extern __device__ cuda::atomic<int, cuda::thread_scope_device> counter;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ int Ticket() { return counter.fetch_add(1, cuda::std::memory_order_relaxed); }
__device__ void Arrive(Barrier& barrier) { barrier.arrive_and_wait(); }

__global__ void Complex(cuda::std::complex<double>* p) { p[0] = p[1] / p[2] + exp(p[3]); }
