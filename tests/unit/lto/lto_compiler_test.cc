// SPDX-License-Identifier: Apache-2.0
#include "devlink/lto_compiler.h"

#include "support/catch.h"

namespace devlink::testing {
namespace {}  // namespace
}  // namespace devlink::testing
