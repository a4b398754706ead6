// SPDX-License-Identifier: Apache-2.0
//
// fuzz_seeds TARGET FOLDER: writes the target's seeds as files for libFuzzer.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <string>

#include "fuzz/targets.h"

int main(int argc, char** argv) {
  const devlink::testing::FuzzTarget* target =
      argc == 3 ? devlink::testing::FindFuzzTarget(argv[1]) : nullptr;
  if (target == nullptr) {
    std::fputs("fuzz_seeds TARGET FOLDER\n", stderr);
    return EXIT_FAILURE;
  }
  int number = 0;
  for (const auto& seed : target->seeds()) {
    std::ofstream file(std::string(argv[2]) + "/seed-" + std::to_string(number++),
                       std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()),
               static_cast<std::streamsize>(seed.size()));
    if (!file.flush()) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
