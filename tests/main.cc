// SPDX-License-Identifier: Apache-2.0
//
// The main function of all Catch2 programs. Compiled once: Catch2's own part takes longest.
#define CATCH_CONFIG_RUNNER
#include "support/catch.h"

int main(int argc, char** argv) {
  for (void (*hook)() : devlink::testing::StartHooks()) hook();
  return Catch::Session().run(argc, argv);
}
