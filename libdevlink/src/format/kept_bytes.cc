// SPDX-License-Identifier: Apache-2.0
#include "format/kept_bytes.h"

#include <algorithm>
#include <iterator>

namespace devlink::format {

void KeptBytes::Keep(base::Bytes section, std::uint64_t begin, std::uint64_t size) {
  const base::Bytes kept = section.subspan(begin, size);
  runs.push_back({begin, size, bytes.size()});
  bytes.insert(bytes.end(), kept.begin(), kept.end());
}

std::optional<std::uint64_t> KeptBytes::PlaceOf(std::uint64_t offset) const {
  const auto behind = std::ranges::upper_bound(runs, offset, {}, &Run::from);
  if (behind == runs.begin()) return std::nullopt;
  const Run& run = *std::prev(behind);
  if (offset - run.from >= run.size) return std::nullopt;
  return offset - run.from + run.to;
}

}  // namespace devlink::format
