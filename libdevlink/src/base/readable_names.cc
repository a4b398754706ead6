// SPDX-License-Identifier: Apache-2.0
#include "base/readable_names.h"

#include <algorithm>

#include "base/demangle.h"

namespace devlink::base {

std::string ReadableNames::Readable(std::string_view name) {
  if (!demangle_ || left_ == 0 || !name.starts_with("_Z")) return std::string(name);
  std::string out = Demangle(name);
  left_ -= std::min<std::uint64_t>(left_, out.size());
  return out;
}

}  // namespace devlink::base
