// SPDX-License-Identifier: Apache-2.0
#include "format/frames.h"

#include "base/value_bytes.h"

namespace devlink::format {

namespace {

constexpr std::uint64_t kIsCie = ~std::uint64_t{0};

}  // namespace

std::optional<std::vector<Frame>> SplitFrames(base::Bytes bytes) {
  const base::BoundedReader reader(bytes);
  std::vector<Frame> out;
  FrameEntry cie;
  for (std::uint64_t at = 0; at < bytes.size();) {
    std::uint32_t escape = 0;
    std::uint64_t length = 0;
    std::uint64_t of = 0;
    if (!reader.Read(at, escape) || escape != kFrameEscape || !reader.Read(at + 4, length) ||
        !reader.Read(at + kFrameCieField, of) || length < sizeof(of) ||
        !reader.Slice(at + kFrameHead, length)) {
      return std::nullopt;
    }
    const FrameEntry entry{at, kFrameHead + length};
    if (of == kIsCie) {
      cie = entry;
    } else {
      if (entry.size < kFrameRangeField + sizeof(std::uint64_t)) return std::nullopt;
      out.push_back({cie, entry});
    }
    at += entry.size;
  }
  return out;
}

std::optional<KeptBytes> KeepFrames(base::Bytes bytes,
                                    absl::FunctionRef<bool(std::uint64_t)> stays) {
  const auto frames = SplitFrames(bytes);
  if (!frames) return std::nullopt;
  KeptBytes out;
  const auto keep = [&](const FrameEntry& entry) { out.Keep(bytes, entry.begin, entry.size); };
  std::optional<std::uint64_t> known;  // the CIE of the last entry
  for (const Frame& frame : *frames) {
    if (!stays(frame.code.begin + kFrameAddressField)) continue;
    if (frame.cie.size == 0) return std::nullopt;
    if (known != frame.cie.begin) keep(frame.cie);
    known = frame.cie.begin;
    keep(frame.code);
    // Inputs have a relocation there as a rule, and 0.
    const std::uint64_t field = out.runs.back().to + kFrameCieField;
    const auto cie = base::BoundedReader(out.bytes).ReadOrZero<std::uint64_t>(field);
    if (cie != 0) {
      const auto place = out.PlaceOf(cie);
      if (!place) return std::nullopt;
      base::PutValue(out.bytes, field, *place);
    }
  }
  return out;
}

}  // namespace devlink::format
