// SPDX-License-Identifier: Apache-2.0
// Nobody needs it.
#include "program.h"

__device__ int LibraryThird(int x) { return Turn<9>(x); }
