// SPDX-License-Identifier: Apache-2.0
#include "hash_table.h"

__device__ JoinStatistics statistics;

__device__ void Count(unsigned long long* counter, unsigned amount) {
  if (amount != 0) atomicAdd(counter, static_cast<unsigned long long>(amount));
}
