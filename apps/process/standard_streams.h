// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace devlink::app {

// Makes sure that no file of a link gets the number of a standard stream that is closed, where
// messages would be written into it, and that neither a reader who leaves nor a file that may not
// be larger (`ulimit -f`) ends the process: both are errors of what is written.
void SecureStandardStreams();

// Both write as far as the stream takes it.
void PrintOut(std::string_view text);
void PrintError(std::string_view text);

// Whether all of standard output was taken. Flushes it.
bool OutputWasTaken();

}  // namespace devlink::app
