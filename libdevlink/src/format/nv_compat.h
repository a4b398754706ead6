// SPDX-License-Identifier: Apache-2.0
//
// `.nv.compat`: what code needs of the device and of the driver (docs/cubin-format.md,
// "Compatibility record"). Its records have the form of those of `.nv.info`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/bounded_reader.h"
#include "devlink/toolkit_profile.h"
#include "format/nv_info.h"

namespace devlink::format {

// Tags that have a rule of their own. Those that are not known are numbers whose maximum counts.
enum class CompatTag : std::uint8_t {
  kIsaClass = 0x02,
  kTensorMap = 0x03,
  kTcgen05 = 0x05,
  kOpportunistic = 0x06,
  kUnnamed07 = 0x07,
  kUnnamed08 = 0x08,
  kAcceleratorTarget = 0x09,  // 1: for the architecture itself, sm_90a
  kFastpath = 0x0b,           // a mask of 64 bits
  kInternalTarget = 0x0c,
  kIsaMinimum = 0x0d,
  kFinalizer = 0x0e,
};

// What a cubin's section says.
struct CompatFacts {
  bool architecture_specific = false;
};
// InvalidArgument with what is wrong where the bytes are not records.
absl::Status ReadCompat(base::Bytes section, CompatFacts& out);

// The mask of tag 0b: for which relatives of its target code may be finalized on the fast path. 0
// where there is none.
std::uint64_t FastPathOf(base::Bytes section);
// Of code for sm_100: it runs where it was made for, and as it is on sm_103.
inline constexpr std::uint64_t kFastPathOwnTarget = 1;
inline constexpr std::uint64_t kFastPathToRelative = 8;
// Makes the output's section from those of the inputs, in link order.
class CompatMerger {
 public:
  // `profile` must outlive the merger.
  explicit CompatMerger(const ToolkitProfile& profile) : profile_(profile) {}

  // Returns whether nvlink misses the input's class of instructions, of which it warns.
  bool Add(base::Bytes section);
  // Empty where no input has a section.
  [[nodiscard]] std::vector<std::uint8_t> Finish(bool architecture_specific) const;
  // The record of tag 0b, which is the last one of a file with two views.
  static void AppendFastPath(std::uint64_t mask, std::vector<std::uint8_t>& out);
  // What nvlink writes where no input has any device code.
  static std::vector<std::uint8_t> OfTarget(bool architecture_specific);

 private:
  struct Record {
    CompatTag tag = {};
    std::uint8_t format = kInfoByteValue;
    std::uint16_t value = 0;
    base::Bytes payload;     // of a sized record,
    std::uint64_t mask = 0;  // unless it is a mask
    bool is_mask = false;
  };
  static void Append(const Record& record, std::vector<std::uint8_t>& out);
  static Record OfFixedSize(CompatTag tag, std::uint16_t value);
  [[nodiscard]] bool Keeps(CompatTag tag) const;
  void Take(const Record& theirs);
  static void Merge(const Record& theirs, Record& ours);
  [[nodiscard]] std::uint32_t RecordsOf(CompatTag tag) const {
    return records_of_[static_cast<std::size_t>(tag)];
  }

  const ToolkitProfile& profile_;
  std::vector<Record> records_;
  std::array<std::uint32_t, 256> records_of_ = {};  // by tag: how many inputs have it
  std::uint32_t inputs_ = 0;
};

}  // namespace devlink::format
