// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "devlink/nvlink_command.h"

namespace devlink::internal {

// What -ghls asks for, into the output or to `out`. For a whole script the host's compiler and
// linker are run, as programs with their words and not by a shell; they say how the linker links,
// and the linker has to take the result. A failure is nvlink's words and, after an end of line, the
// reason; an earlier output then stays. Cancelled where the environment asks to stop.
absl::Status WriteHostLinkerScript(const NvlinkCommand& command, const CommandContext& context,
                                   const CommandSinks& sinks);

// Of what a compiler prints with -###: the words for its linker that choose a script. Public for
// tests.
std::vector<std::string> WordsThatChooseScript(std::string_view printed);

// The linker's own script in what `ld --verbose` prints, where `ld -V` prints `version`; empty
// where there is none. Public for tests.
std::string ScriptIn(std::string_view printed, std::string_view version);

}  // namespace devlink::internal
