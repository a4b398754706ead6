// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/random.h>

#include <cstdint>

namespace devlink::base {

// A number that nobody can guess, for names of temporary files; 0 on systems that have none to
// give. std::random_device asks the processor who made it each time, for which a virtual machine
// stops.
inline std::uint64_t RandomNumber() {
  std::uint64_t number = 0;
  return getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number) ? number : 0;
}

}  // namespace devlink::base
