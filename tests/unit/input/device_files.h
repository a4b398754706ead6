// SPDX-License-Identifier: Apache-2.0
//
// Device code for tests of inputs, made with the toolkit.
#pragma once

#include <optional>
#include <string>

#include "support/elf_builder.h"
#include "support/process.h"
#include "support/toolkit.h"

namespace devlink::testing {

// A fatbin with one relocatable cubin for sm_90, in which there is one empty kernel of that name.
// Leaves files in `directory`. Empty where the tools fail.
std::optional<ByteVector> CompileToFatbin(const Toolkit& toolkit,
                                          const TemporaryDirectory& directory,
                                          const std::string& kernel);

}  // namespace devlink::testing
