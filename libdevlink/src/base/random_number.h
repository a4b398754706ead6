// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/random.h>

#include <cstdint>
#include <random>

namespace devlink::base {

// A number that nobody can guess, for names of temporary files. std::random_device asks the
// processor who made it each time, for which a virtual machine stops; it is for systems that answer
// no such call.
inline std::uint64_t RandomNumber() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number)) return number;
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

}  // namespace devlink::base
