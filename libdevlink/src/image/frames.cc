// SPDX-License-Identifier: Apache-2.0
#include "image/frames.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "format/frames.h"
#include "image/section_bytes.h"

namespace devlink::internal {

namespace {

using format::Frame;
using format::FrameEntry;

// The functions that fields of a section name, by offset.
base::HashMap<std::uint64_t, SymbolId> Named(const FrameView& view) {
  base::HashMap<std::uint64_t, SymbolId> out;
  const Program& program = view.passes.program;
  for (const KeptRelocation& kept : view.passes.relocated.kept) {
    if (program.sections[kept.list].owner != view.section) continue;
    if (program.symbols[kept.symbol].function != kNone) out[kept.offset] = kept.symbol;
  }
  return out;
}

class FrameMaker {
 public:
  FrameMaker(const FrameView& mercury, const FrameView& sass)
      : mercury_(mercury),
        sass_(sass),
        mercury_bytes_(BytesOf(mercury.passes.program.sections[mercury.section])),
        sass_bytes_(BytesOf(sass.passes.program.sections[sass.section])) {}

  Frames Make(const InputBases& bases, std::span<const FunctionId> function_of,
              const base::HashSet<FunctionId>& hidden) {
    const auto from = format::SplitFrames(mercury_bytes_);
    const auto machine = format::SplitFrames(sass_bytes_);
    if (!from || !machine) return {};
    FindBodies(*machine, bases);
    const auto named = Named(mercury_);
    base::HashMap<std::uint64_t, std::uint64_t> place;  // of an address field
    for (const Frame& frame : *from) {
      const auto symbol = named.find(frame.code.begin + format::kFrameAddressField);
      if (symbol == named.end()) continue;
      const Program& program = mercury_.passes.program;
      const FunctionId own = program.symbols[symbol->second].function;
      const FunctionId function = function_of[own];
      const auto body = frame_of_.find(function);
      const bool has_body = body != frame_of_.end() && !hidden.contains(own);
      place[symbol->first] = has_body ? CopyOf(body->second) : StubOf(frame);
      if (has_body) frame_of_.erase(body);  // a function has one body: once
    }
    for (const KeptRelocation& kept : mercury_.passes.relocated.kept) {
      if (mercury_.passes.program.sections[kept.list].owner != mercury_.section) continue;
      const auto to = place.find(kept.offset);
      if (to != place.end()) out_.addresses.push_back({to->second, kept.symbol});
    }
    out_.made = true;
    return std::move(out_);
  }

 private:
  // The frame of each function's body, which came from the input that the function is of.
  void FindBodies(const std::vector<Frame>& frames, const InputBases& bases) {
    const auto named = Named(sass_);
    const Program& program = sass_.passes.program;
    for (const Frame& frame : frames) {
      const auto symbol = named.find(frame.code.begin + format::kFrameAddressField);
      if (symbol == named.end()) continue;
      const Symbol& function = program.symbols[symbol->second];
      if (function.input == bases.InputAt(frame.code.begin))
        frame_of_[function.function] = frame;
      else
        frame_of_.try_emplace(function.function, frame);
    }
  }

  std::uint64_t Append(base::Bytes bytes) {
    const std::uint64_t at = out_.bytes.size();
    out_.bytes.insert(out_.bytes.end(), bytes.begin(), bytes.end());
    return at;
  }
  static base::Bytes EntryOf(const std::vector<std::uint8_t>& all, const FrameEntry& entry) {
    return base::Bytes(all).subspan(entry.begin, entry.size);
  }
  void SetCie(std::uint64_t entry, std::uint64_t cie) {
    std::memcpy(out_.bytes.data() + entry + format::kFrameCieField, &cie, sizeof(cie));
  }

  // Each entry gets a CIE of its own. Both return the place of the address.
  std::uint64_t CopyOf(const Frame& frame) {
    const std::uint64_t cie = Append(EntryOf(sass_bytes_, frame.cie));
    const std::uint64_t code = Append(EntryOf(sass_bytes_, frame.code));
    SetCie(code, cie);
    return code + format::kFrameAddressField;
  }
  // Of a body that is gone nothing is said but its size as Mercury code.
  std::uint64_t StubOf(const Frame& frame) {
    constexpr std::uint64_t kStubLength = 0x1c;
    std::array<std::uint8_t, format::kFrameHead + kStubLength> stub = {};
    std::memcpy(stub.data(), &format::kFrameEscape, sizeof(format::kFrameEscape));
    std::memcpy(stub.data() + sizeof(format::kFrameEscape), &kStubLength, sizeof(kStubLength));
    std::memcpy(stub.data() + format::kFrameRangeField,
                mercury_bytes_.data() + frame.code.begin + format::kFrameRangeField,
                sizeof(std::uint64_t));
    const std::uint64_t cie = Append(EntryOf(mercury_bytes_, frame.cie));
    const std::uint64_t code = Append(stub);
    SetCie(code, cie);
    return code + format::kFrameAddressField;
  }

  const FrameView& mercury_;
  const FrameView& sass_;
  const std::vector<std::uint8_t> mercury_bytes_;
  const std::vector<std::uint8_t> sass_bytes_;
  base::HashMap<FunctionId, Frame> frame_of_;
  Frames out_;
};

}  // namespace

Frames MakeFrames(const FrameView& mercury, const FrameView& sass, const InputBases& bases,
                  std::span<const FunctionId> function_of,
                  const base::HashSet<FunctionId>& hidden) {
  return FrameMaker(mercury, sass).Make(bases, function_of, hidden);
}

}  // namespace devlink::internal
