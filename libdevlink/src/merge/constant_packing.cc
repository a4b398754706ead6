// SPDX-License-Identifier: Apache-2.0
#include "merge/constant_packing.h"

#include <algorithm>

#include "base/align.h"

namespace devlink::internal {

namespace {

bool IsCompared(std::size_t size, std::uint32_t align) {
  switch (size) {
    case 4:
    case 8:
      return align == size;
    case 12:
    case 16:
    case 20:
    case 24:
    case 32:
    case 48:
    case 64:
      return true;
    default:
      return false;
  }
}

// A number, which the smallest pieces are, that is 0: nvlink finds no equal one.
bool IsZero(base::Bytes bytes) {
  return bytes.size() <= sizeof(std::uint64_t) &&
         std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

void ConstantPacking::Add(base::Bytes bytes, std::uint32_t align) {
  const bool compared = IsCompared(bytes.size(), align);
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (compared && !IsZero(bytes) && !seen_.emplace(text, align).second) return;
  const std::uint64_t offset = base::AlignUp(size_, align);
  if (compared) last_ = offset;
  if (!bytes.empty()) pieces_.push_back({bytes, offset});
  size_ = offset + bytes.size();
}

}  // namespace devlink::internal
