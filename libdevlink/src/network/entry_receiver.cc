// SPDX-License-Identifier: Apache-2.0
#include "network/entry_receiver.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/strings.h"

namespace devlink::internal {

bool EntryReceiver::Refuse(std::string_view why) {
  refusal_ = why;
  return false;
}

bool EntryReceiver::Append(base::Bytes piece) {
  if (!refusal_.empty()) return false;
  if (header_filled_ < sizeof(header_)) {
    const std::size_t taken = std::min(piece.size(), sizeof(header_) - header_filled_);
    std::memcpy(reinterpret_cast<std::uint8_t*>(&header_) + header_filled_, piece.data(), taken);
    header_filled_ += taken;
    piece = piece.subspan(taken);
    if (header_filled_ < sizeof(header_)) return true;
    if (!IsEntryHeader(header_)) return Refuse("is no entry of this cache");
    if (header_.size > max_bytes_) return Refuse("is too large");
  }
  if (piece.size() > header_.size - value_.size()) return Refuse("is longer than it says");
  value_.insert(value_.end(), piece.begin(), piece.end());
  return true;
}

absl::Status EntryReceiver::Finish(const CacheKey& key, std::vector<std::uint8_t>& value) {
  if (refusal_.empty()) {
    if (header_filled_ < sizeof(header_) || value_.size() < header_.size) {
      Refuse("is cut off");
    } else if (!IsWholeEntry(header_, key, value_)) {
      Refuse("is damaged, or was stored under another key");
    }
  }
  if (!refusal_.empty()) {
    return absl::DataLossError(base::Cat({"what is there under a key ", refusal_}));
  }
  value = std::move(value_);
  return absl::OkStatus();
}

}  // namespace devlink::internal
