// SPDX-License-Identifier: Apache-2.0
#include "program.h"

__managed__ int managed_total = 11;

__global__ void AddManaged(int* data) { managed_total += *data; }
