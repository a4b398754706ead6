// SPDX-License-Identifier: Apache-2.0
//
// `.nv.info`: a list of tagged records, for the whole module or for one function.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bounded_reader.h"

namespace devlink::format {

// Record formats.
inline constexpr std::uint8_t kInfoNoValue = 1;
inline constexpr std::uint8_t kInfoByteValue = 2;
inline constexpr std::uint8_t kInfoHalfValue = 3;
inline constexpr std::uint8_t kInfoSized = 4;

// Attributes that a link looks at. All others are copied.
inline constexpr std::uint8_t kAttrCtaidzUsed = 0x04;
inline constexpr std::uint8_t kAttrParamCbank = 0x0a;
inline constexpr std::uint8_t kAttrExterns = 0x0f;
inline constexpr std::uint8_t kAttrFrameSize = 0x11;
inline constexpr std::uint8_t kAttrMinStackSize = 0x12;
inline constexpr std::uint8_t kAttrCbankParamSize = 0x19;
inline constexpr std::uint8_t kAttrMaxRegCount = 0x1b;
inline constexpr std::uint8_t kAttrCrsStackSize = 0x1e;
inline constexpr std::uint8_t kAttrMaxStackSize = 0x23;
inline constexpr std::uint8_t kAttrSamplerInit = 0x09;  // texmode_independent only
inline constexpr std::uint8_t kAttrRegCount = 0x2f;
inline constexpr std::uint8_t kAttrNumMbarriers = 0x38;
inline constexpr std::uint8_t kAttrReservedSmemUsed = 0x41;
inline constexpr std::uint8_t kAttrVrcCtaInitCount = 0x4a;
inline constexpr std::uint8_t kAttrNumBarriers = 0x4c;
inline constexpr std::uint8_t kAttrSparseMmaMask = 0x50;
inline constexpr std::uint8_t kAttrTcgen05OneCta = 0x51;
inline constexpr std::uint8_t kAttrTcgen05TwoCta = 0x52;
inline constexpr std::uint8_t kAttrRegReconfig = 0x54;

// One record. `value` is the value itself (formats 1 to 3) or the payload's length (format 4).
struct InfoRecord {
  std::uint8_t format = 0;
  std::uint8_t id = 0;
  std::uint16_t value = 0;
  base::Bytes payload;
};

// Walks the records of one section.
class InfoReader {
 public:
  explicit InfoReader(base::Bytes bytes) : reader_(bytes) {}

  // The next record; false at the end and where the bytes are no record. `well_formed` tells which.
  bool Next(InfoRecord& out);
  [[nodiscard]] bool well_formed() const { return well_formed_; }

 private:
  base::BoundedReader reader_;
  std::uint64_t offset_ = 0;
  bool well_formed_ = true;
};

// `REGCOUNT`; empty for ids that no 13.x toolkit names.
std::string_view InfoAttributeName(std::uint8_t id);

}  // namespace devlink::format
