// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "nvjitlink_library.h"

namespace devlink::bench {

// Where the first word of initial values of variables lies in a cubin; 0 where it has none.
std::size_t PlaceOfInitialValues(const Bytes& cubin);

}  // namespace devlink::bench
