// SPDX-License-Identifier: Apache-2.0
#include "program.h"

__device__ int LibraryFirst(int x) { return Mix(x) + LibrarySecond(x + 1); }
