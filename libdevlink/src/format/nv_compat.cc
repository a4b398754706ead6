// SPDX-License-Identifier: Apache-2.0
#include "format/nv_compat.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace devlink::format {

namespace {

// Found with inputs of each ptxas from 13.0 to 13.5 linked by each nvlink, in both orders.
constexpr std::uint16_t kWidestTarget = 2;    // of kInternalTarget: what an input without it means
constexpr std::uint16_t kDefaultIsa = 0x100;  // of kIsaMinimum
constexpr std::uint64_t kMaskSize = 8;

// What an input without the tag means to 13.0, which adds it. Found by taking each record, and all,
// out of one of two inputs.
struct MeantWithout {
  CompatTag tag;
  std::uint16_t value;
};
constexpr std::array kMeantWithout = {
    MeantWithout{CompatTag::kIsaClass, 0}, MeantWithout{CompatTag::kTensorMap, 3},
    MeantWithout{CompatTag::kTcgen05, 0}, MeantWithout{CompatTag::kOpportunistic, 1},
    MeantWithout{CompatTag::kUnnamed07, 0x100}};

// Zero is none at all.
std::uint16_t MaximumIfBoth(unsigned one, unsigned other) {
  return static_cast<std::uint16_t>(one == 0 || other == 0 ? 0 : std::max(one, other));
}

// Found by pairs of values, for 05 all of 0 to 9 and those of docs/cubin-format.md.
std::uint16_t Join(CompatTag tag, std::uint16_t one, std::uint16_t other) {
  switch (tag) {
    case CompatTag::kIsaClass:
      return MaximumIfBoth(one, other);
    case CompatTag::kTensorMap:
      return one | other;
    case CompatTag::kTcgen05: {  // two fields of two bits, and what the first has behind them
      if (one == 0 || other == 0) return 0;
      auto out = static_cast<std::uint16_t>(one & ~0xfU);
      for (unsigned at = 0; at < 4; at += 2) {
        const unsigned field = MaximumIfBoth(one >> at & 3U, other >> at & 3U);
        out = static_cast<std::uint16_t>(out | field << at);
      }
      return out;
    }
    case CompatTag::kOpportunistic:
      return one == other ? one : 1;
    default:
      return std::max(one, other);
  }
}

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

std::uint64_t FastPathOf(base::Bytes section) {
  InfoReader records(section);
  InfoRecord record;
  std::uint64_t mask = 0;
  while (records.Next(record)) {
    if (static_cast<CompatTag>(record.id) != CompatTag::kFastpath) continue;
    mask = base::BoundedReader(record.payload).ReadOrZero<std::uint64_t>(0);
  }
  return mask;
}

bool CompatMerger::Keeps(CompatTag tag) const {
  // Of all tags up to 0x21 and some later ones 13.0 takes these.
  constexpr std::string_view kTagsOf130 = "\x02\x03\x05\x06\x07\x08\x09";
  const bool known = kTagsOf130.find(static_cast<char>(tag)) != std::string_view::npos;
  if (profile_.compat_has_fixed_tags && !known) return false;
  if (tag == CompatTag::kOpportunistic) return profile_.compat_keeps_opportunistic;
  if (tag == CompatTag::kFastpath) return profile_.compat_keeps_fastpath;
  return true;
}

void CompatMerger::Merge(const Record& theirs, Record& ours) {
  if (ours.is_mask && theirs.is_mask) {
    const bool both = ours.mask != 0 && theirs.mask != 0;
    ours.mask = both ? ours.mask & theirs.mask : ours.mask | theirs.mask;
  } else if (ours.format != kInfoSized && theirs.format != kInfoSized) {
    ours.value = Join(ours.tag, ours.value, theirs.value);
  }
}

// Of a sized record 13.0 takes the size for the value.
CompatMerger::Record CompatMerger::OfFixedSize(CompatTag tag, std::uint16_t value) {
  const bool half = tag == CompatTag::kUnnamed07 || tag == CompatTag::kUnnamed08;
  return {.tag = tag,
          .format = half ? kInfoHalfValue : kInfoByteValue,
          .value = half ? value : static_cast<std::uint16_t>(value & 0xff)};
}

// The first input's records are the base, and give the order.
bool CompatMerger::Add(base::Bytes section) {
  ++inputs_;
  const bool fixed = profile_.compat_has_fixed_tags;
  constexpr std::size_t kUsual = 16;
  if (inputs_ == 1) records_.reserve(kUsual);
  if (inputs_ == 1 && fixed) records_.push_back({.tag = CompatTag::kAcceleratorTarget});
  std::bitset<256> here;
  InfoReader records(section);
  InfoRecord record;
  while (records.Next(record)) {
    const auto tag = static_cast<CompatTag>(record.id);
    if (!Keeps(tag)) continue;
    ++records_of_[record.id];
    here.set(record.id);
    if (fixed) {
      Take(OfFixedSize(tag, record.value));
      continue;
    }
    Record theirs{
        .tag = tag, .format = record.format, .value = record.value, .payload = record.payload};
    theirs.is_mask = record.format == kInfoSized && record.payload.size() == kMaskSize;
    if (theirs.is_mask) std::memcpy(&theirs.mask, record.payload.data(), kMaskSize);
    Take(theirs);
  }
  if (!fixed) return false;
  for (const MeantWithout& meant : kMeantWithout) {
    if (here.test(static_cast<std::size_t>(meant.tag))) continue;
    Take(OfFixedSize(meant.tag, meant.value));
  }
  return !here.test(static_cast<std::size_t>(CompatTag::kIsaClass));
}

void CompatMerger::Take(const Record& theirs) {
  const auto ours =
      std::ranges::find_if(records_, [&](const Record& r) { return r.tag == theirs.tag; });
  if (ours != records_.end()) {
    Merge(theirs, *ours);
  } else {
    records_.push_back(theirs);
  }
}

std::vector<std::uint8_t> CompatMerger::Finish(bool architecture_specific) const {
  std::vector<std::uint8_t> out;
  if (records_.empty()) return out;
  constexpr std::size_t kMostlyAtMost = 12;  // bytes of a record
  out.reserve((records_.size() + 2) * kMostlyAtMost);
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

void CompatMerger::AppendFastPath(std::uint64_t mask, std::vector<std::uint8_t>& out) {
  Append({.tag = CompatTag::kFastpath,
          .format = kInfoSized,
          .value = kMaskSize,
          .mask = mask,
          .is_mask = true},
         out);
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
