// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace devlink::base {

// Gives a container's memory back. (`container = {}` would keep it.)
template <typename Container>
void Release(Container& container) {
  Container().swap(container);
}

}  // namespace devlink::base
