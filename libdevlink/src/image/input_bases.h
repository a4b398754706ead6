// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "merge/input_maps.h"
#include "model/program.h"

namespace devlink::internal {

// Which input the bytes of a section came from. Inputs' parts lie in link order.
class InputBases {
 public:
  InputBases() = default;
  InputBases(SectionId section, const InputMaps& maps) {
    for (InputId input = 0; input < maps.size(); ++input) {
      for (const SectionPlace& place : maps[input].sections) {
        if (place.section == section && !place.by_record) bases_.push_back({place.base, input});
      }
    }
  }

  // kNone where none did.
  [[nodiscard]] InputId InputAt(std::uint64_t offset) const {
    const auto behind =
        std::upper_bound(bases_.begin(), bases_.end(), offset,
                         [](std::uint64_t at, const Base& base) { return at < base.offset; });
    return behind == bases_.begin() ? kNone : std::prev(behind)->input;
  }

 private:
  struct Base {
    std::uint64_t offset = 0;
    InputId input = 0;
  };
  std::vector<Base> bases_;
};

}  // namespace devlink::internal
