// SPDX-License-Identifier: Apache-2.0
//
// The main function of all Catch2 programs. Compiled once: Catch2's own part takes longest.
#define CATCH_CONFIG_RUNNER
#include "support/at_end.h"
#include "support/catch.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DEVLINK_KEEP_LIBRARIES
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(DEVLINK_KEEP_LIBRARIES)
// What a library of NVIDIA's leaks is told from what ours do by its name (lsan.supp), which only
// libraries have that are still there at the end.
extern "C" int dlclose(void* /*handle*/) { return 0; }
#endif

int main(int argc, char** argv) {
  for (void (*hook)() : devlink::testing::StartHooks()) hook();
  const int status = Catch::Session().run(argc, argv);
  for (void (*hook)() : devlink::testing::EndHooks()) hook();
  return status;
}
