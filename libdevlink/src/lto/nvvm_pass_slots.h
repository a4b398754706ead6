// SPDX-License-Identifier: Apache-2.0
//
// The switches that the pipeline of libNVVM's optimiser is said to be assembled from. libNVVM does
// not show them; what is said of them is a description that no experiment confirms, so nothing is
// decided by it.
#pragma once

#include <cstdint>
#include <string_view>

namespace devlink::internal {

enum class NvvmSlotKind : std::uint8_t { kText, kBoolean, kInteger, kTextPointer };
enum class NvvmSlotConfidence : std::uint8_t { kHigh, kMedium, kLow, kNone };
struct NvvmPassSlot {
  int number = 0;  // from 1
  NvvmSlotKind kind = NvvmSlotKind::kText;
  std::string_view default_value;  // "0", "1", a number; empty for texts
  std::string_view pass;           // empty where it is not known
  bool disables = false;           // the pass runs where the switch is off
  NvvmSlotConfidence confidence = NvvmSlotConfidence::kNone;
};
inline constexpr int kNvvmPassSlots = 221;
// `number` from 1 to kNvvmPassSlots; others give a slot with number 0.
NvvmPassSlot NvvmPassSlotAt(int number);

}  // namespace devlink::internal
