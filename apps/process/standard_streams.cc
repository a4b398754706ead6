// SPDX-License-Identifier: Apache-2.0
#include "process/standard_streams.h"

#include <fcntl.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace devlink::app {

namespace {

// The stream remembers what it lost.
void Print(std::FILE* stream, std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace

void SecureStandardStreams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free is this one. What is written there is still an error.
    (void)open("/dev/null", O_RDONLY);
  }
}

void PrintOut(std::string_view text) { Print(stdout, text); }

void PrintError(std::string_view text) { Print(stderr, text); }

bool OutputWasTaken() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace devlink::app
