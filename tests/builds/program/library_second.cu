// SPDX-License-Identifier: Apache-2.0
#include "program.h"

__device__ int library_calls;

__device__ int LibrarySecond(int x) { return ++library_calls * x; }
