// SPDX-License-Identifier: Apache-2.0
//
// A program whose units each have another kind of device code in them. Every unit has a device
// function that others call; kernels are in some.
#pragma once

#include <cuda_runtime.h>

// What more than one unit has a copy of.
template <int N>
__device__ __noinline__ int Turn(int x) {
  return (x << N) ^ (x >> (31 - N));
}
inline __device__ __noinline__ int Mix(int x) { return Turn<3>(x) + Turn<5>(x); }

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual int Area(int scale) const = 0;
};
__device__ Shape* MakeSquare(int side);

struct Step {
  int (*apply)(int);
  int weight;
};

extern __constant__ int weights[16];
extern __device__ int counter;
extern __device__ Step steps[3];
extern __managed__ int managed_total;

__device__ int Area(int x);
__device__ int Atomic(int x);
__device__ int Bounded(int x);
__device__ int Constant(int x);
__device__ int Dynamic(int x);
__device__ int Factorial(int x);
__device__ int Half(int x);
__device__ int Inline(int x);
__device__ int Log(int x);
__device__ int Math(int x);
__device__ int PointedTo(int x);
__device__ int Shared(int x);
__device__ int StaticA(int x);
__device__ int StaticB(int x);
__device__ int Templates(int x);
__device__ int Warp(int x);
__device__ int Wide(int x);

// In the static library.
__device__ int LibraryFirst(int x);
__device__ int LibrarySecond(int x);

// On the host's side of units with kernels.
void RunCooperative(int* data);
void RunLambdas(int* data);
void RunLaunch(int* data);
void RunReduce(int* data);
