// SPDX-License-Identifier: Apache-2.0
//
// Damage to any file: bytes, numbers, pieces; in ELF files the tables that say where things are.
#pragma once

#include <cstdint>
#include <vector>

#include "random/prng.h"

namespace devlink::testing {

// Changes `bytes` in one to eight places. The same for the same state of `random`.
void Mutate(Prng& random, std::vector<std::uint8_t>& bytes);

}  // namespace devlink::testing
