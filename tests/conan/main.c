// SPDX-License-Identifier: Apache-2.0
#include <devlink/c/devlink.h>
#include <stdio.h>

int main(void) {
  const dl_session_options options = {.size = sizeof options, .target = "sm_90"};
  dl_session* session = NULL;
  dl_outcome* linked = NULL;
  int good = dl_session_create(&options, &session, NULL) == DL_OK &&
             dl_session_link(session, &linked, NULL) == DL_OK && dl_outcome_cubin(linked).size > 64;
  dl_outcome_destroy(linked);
  dl_session_destroy(session);
  printf("devlink %s %s\n", dl_version(), good ? "links" : "does not link");
  return good ? 0 : 1;
}
