// SPDX-License-Identifier: Apache-2.0
#include "format/nv_compat.h"

#include <algorithm>
#include <cstring>

namespace devlink::format {

namespace {

// Found with inputs of each ptxas from 13.0 to 13.5 linked by each nvlink, in both orders.
constexpr std::uint16_t kWidestTarget = 2;    // of kInternalTarget: what an input without it means
constexpr std::uint16_t kDefaultIsa = 0x100;  // of kIsaMinimum
constexpr std::uint64_t kMaskSize = 8;

}  // namespace

absl::Status ReadCompat(base::Bytes section, CompatFacts& out) {
  InfoReader records(section);
  InfoRecord record;
  while (records.Next(record)) {
    const auto tag = static_cast<CompatTag>(record.id);
    if (tag == CompatTag::kAcceleratorTarget && record.format != kInfoSized && record.value == 1) {
      out.architecture_specific = true;
    }
    if (tag == CompatTag::kFastpath && record.format == kInfoSized &&
        record.payload.size() != kMaskSize) {
      return absl::InvalidArgumentError("a record of the wrong length");
    }
  }
  return records.well_formed() ? absl::OkStatus()
                               : absl::InvalidArgumentError("a record is cut off or unknown");
}

bool CompatMerger::Keeps(CompatTag tag) const {
  if (tag == CompatTag::kOpportunistic) return profile_.compat_keeps_opportunistic;
  if (tag == CompatTag::kFastpath) return profile_.compat_keeps_fastpath;
  return true;
}

void CompatMerger::Merge(const Record& theirs, Record& ours) {
  if (ours.is_mask && theirs.is_mask) {
    const bool both = ours.mask != 0 && theirs.mask != 0;
    ours.mask = both ? ours.mask & theirs.mask : ours.mask | theirs.mask;
  } else if (ours.format != kInfoSized && theirs.format != kInfoSized) {
    ours.value = std::max(ours.value, theirs.value);
  }
}

// The first input's records are the base, and give the order.
void CompatMerger::Add(base::Bytes section) {
  ++inputs_;
  InfoReader records(section);
  InfoRecord record;
  while (records.Next(record)) {
    const auto tag = static_cast<CompatTag>(record.id);
    if (!Keeps(tag)) continue;
    ++records_of_[record.id];
    Record theirs{
        .tag = tag, .format = record.format, .value = record.value, .payload = record.payload};
    theirs.is_mask = record.format == kInfoSized && record.payload.size() == kMaskSize;
    if (theirs.is_mask) std::memcpy(&theirs.mask, record.payload.data(), kMaskSize);
    const auto ours = std::find_if(records_.begin(), records_.end(),
                                   [tag](const Record& r) { return r.tag == tag; });
    if (ours != records_.end()) {
      Merge(theirs, *ours);
    } else if (inputs_ == 1 || profile_.compat_takes_tags_of_later_inputs) {
      records_.push_back(theirs);
    }
  }
}

std::vector<std::uint8_t> CompatMerger::Finish(bool architecture_specific) const {
  std::vector<std::uint8_t> out;
  if (records_.empty()) return out;
  for (Record record : records_) {
    const bool everywhere = RecordsOf(record.tag) == inputs_;
    switch (record.tag) {
      case CompatTag::kTcgen05:
      case CompatTag::kFinalizer:
        if (profile_.compat_intersects_tcgen05_and_finalizer && !everywhere) continue;
        break;
      case CompatTag::kInternalTarget:
        if (!everywhere) record.value = std::max(record.value, kWidestTarget);
        break;
      case CompatTag::kAcceleratorTarget:
        record.value = architecture_specific ? 1 : 0;
        break;
      default:
        break;
    }
    Append(record, out);
  }
  if (profile_.compat_adds_internal_target && RecordsOf(CompatTag::kInternalTarget) == 0) {
    Append({.tag = CompatTag::kInternalTarget, .value = kWidestTarget}, out);
  }
  if (profile_.compat_adds_isa_minimum && RecordsOf(CompatTag::kIsaMinimum) == 0) {
    Append({.tag = CompatTag::kIsaMinimum, .format = kInfoHalfValue, .value = kDefaultIsa}, out);
  }
  return out;
}

std::vector<std::uint8_t> CompatMerger::OfTarget(bool architecture_specific) {
  std::vector<std::uint8_t> out;
  Append({.tag = CompatTag::kAcceleratorTarget,
          .value = static_cast<std::uint16_t>(architecture_specific ? 1 : 0)},
         out);
  return out;
}

void CompatMerger::Append(const Record& record, std::vector<std::uint8_t>& out) {
  out.push_back(record.format);
  out.push_back(static_cast<std::uint8_t>(record.tag));
  out.push_back(static_cast<std::uint8_t>(record.value & 0xff));
  out.push_back(static_cast<std::uint8_t>(record.value >> 8));
  if (record.is_mask) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&record.mask);
    out.insert(out.end(), bytes, bytes + kMaskSize);
  } else {
    out.insert(out.end(), record.payload.begin(), record.payload.end());
  }
}

}  // namespace devlink::format
