// SPDX-License-Identifier: Apache-2.0
//
// devlink-finalizer: the process in which libnvJitLink does one job for devlink, and may crash.
#include <cstdio>

#include "devlink/experimental/mercury_finalizer.h"

int main(int count, char** words) {
  if (count == 4) return devlink::ServeFinalizerJob(words[1], words[2], words[3]);
  std::fputs("devlink-finalizer LIBRARY JOB RESULT: started by devlink, for code for sm_100\n",
             stderr);
  return 2;
}
