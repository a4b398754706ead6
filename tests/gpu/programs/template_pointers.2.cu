// SPDX-License-Identifier: Apache-2.0
#include "template_pointers.h"

__device__ Function table[1] = {Square<unsigned>};
