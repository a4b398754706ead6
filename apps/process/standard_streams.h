// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace devlink::app {

// Makes sure that no file of a link gets the number of a standard stream that is closed, where
// messages would be written into it, and that a reader who leaves does not end the process.
void SecureStandardStreams();

// Both write as far as the stream takes it.
void PrintOut(std::string_view text);
void PrintError(std::string_view text);

// Whether all of standard output was taken. Flushes it.
bool OutputWasTaken();

}  // namespace devlink::app
