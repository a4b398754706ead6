// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/shown_names.h"

#include <algorithm>

#include "base/demangle.h"

namespace devlink::inspect {

std::string ShownNames::Readable(std::string_view name) {
  if (!demangle_ || left_ == 0 || !name.starts_with("_Z")) return std::string(name);
  std::string out = base::Demangle(name);
  left_ -= std::min<std::uint64_t>(left_, out.size());
  return out;
}

}  // namespace devlink::inspect
