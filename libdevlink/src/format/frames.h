// SPDX-License-Identifier: Apache-2.0
//
// `.debug_frame`: how a debugger finds a function's caller.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/bounded_reader.h"
#include "format/kept_bytes.h"

namespace devlink::format {

// DWARF's 64-bit form, which is what ptxas writes: a length behind an escape word, then the place
// of the entry's CIE, all bits set in a CIE itself. The address and size of the code follow.
inline constexpr std::uint32_t kFrameEscape = 0xffffffff;
inline constexpr std::uint64_t kFrameHead = 12;  // the escape word and the length
inline constexpr std::uint64_t kFrameCieField = 12;
inline constexpr std::uint64_t kFrameAddressField = 20;
inline constexpr std::uint64_t kFrameRangeField = 28;

struct FrameEntry {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

// An entry of code and the CIE in front of it.
struct Frame {
  FrameEntry cie;
  FrameEntry code;
};

// Nothing where the bytes are not entries of that form.
std::optional<std::vector<Frame>> SplitFrames(base::Bytes bytes);

// The instructions of an entry of code, DWARF 2, 6.4.2.
inline constexpr std::uint64_t kFrameInstructions = 36;  // behind the range
inline constexpr std::uint64_t kFrameAlignment = 8;      // of an entry's size

struct FrameInstruction {
  std::uint64_t place = 0;  // of code, in units of the CIE's
  std::uint64_t begin = 0;  // in the entry
  std::uint64_t end = 0;
};

struct FrameProgram {
  // Those that say something of a place; advances and what fills the entry up do not.
  std::vector<FrameInstruction> instructions;
  std::uint64_t end = 0;  // of the last one or of an advance behind it, in the entry
};
// Nothing where an instruction is not known.
std::optional<FrameProgram> ReadFrameProgram(base::Bytes entry);

// The section without the entries of code whose address field `stays` does not want, and without
// their CIEs. Nothing where the bytes are not such entries, each behind a CIE.
std::optional<KeptBytes> KeepFrames(base::Bytes bytes,
                                    absl::FunctionRef<bool(std::uint64_t)> stays);

}  // namespace devlink::format
