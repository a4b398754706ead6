// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

__device__ int Say(const char* word, double number) {
  return printf("there %.1f of %s\n", number, word) - 1;
}
