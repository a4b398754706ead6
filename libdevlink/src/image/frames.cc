// SPDX-License-Identifier: Apache-2.0
#include "image/frames.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include "image/section_bytes.h"

namespace devlink::internal {

namespace {

// DWARF's 64-bit form, which is what ptxas writes: a length behind an escape word, then the place
// of the entry's CIE, all bits set in a CIE itself. The address and size of the code follow.
constexpr std::uint32_t kEscape = 0xffffffff;
constexpr std::uint64_t kHead = 12;  // the escape word and the length
constexpr std::uint64_t kCieField = 12;
constexpr std::uint64_t kAddressField = 20;
constexpr std::uint64_t kRangeField = 28;
constexpr std::uint64_t kIsCie = ~std::uint64_t{0};

struct Entry {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

// An entry of code and the CIE in front of it.
struct Frame {
  Entry cie;
  Entry code;
};

// Nothing where the bytes are not entries of that form.
std::optional<std::vector<Frame>> Split(base::Bytes bytes) {
  const base::BoundedReader reader(bytes);
  std::vector<Frame> out;
  Entry cie;
  for (std::uint64_t at = 0; at < bytes.size();) {
    std::uint32_t escape = 0;
    std::uint64_t length = 0;
    std::uint64_t of = 0;
    if (!reader.Read(at, escape) || escape != kEscape || !reader.Read(at + 4, length) ||
        !reader.Read(at + kCieField, of) || length < sizeof(of) ||
        !reader.Slice(at + kHead, length)) {
      return std::nullopt;
    }
    const Entry entry{at, kHead + length};
    if (of == kIsCie) {
      cie = entry;
    } else {
      if (entry.size < kRangeField + sizeof(std::uint64_t)) return std::nullopt;
      out.push_back({cie, entry});
    }
    at += entry.size;
  }
  return out;
}

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
    const auto from = Split(mercury_bytes_);
    const auto machine = Split(sass_bytes_);
    if (!from || !machine) return {};
    FindBodies(*machine, bases);
    const auto named = Named(mercury_);
    base::HashMap<std::uint64_t, std::uint64_t> place;  // of an address field
    for (const Frame& frame : *from) {
      const auto symbol = named.find(frame.code.begin + kAddressField);
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
      const auto symbol = named.find(frame.code.begin + kAddressField);
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
  static base::Bytes EntryOf(const std::vector<std::uint8_t>& all, const Entry& entry) {
    return base::Bytes(all).subspan(entry.begin, entry.size);
  }
  void SetCie(std::uint64_t entry, std::uint64_t cie) {
    std::memcpy(out_.bytes.data() + entry + kCieField, &cie, sizeof(cie));
  }

  // Each entry gets a CIE of its own. Both return the place of the address.
  std::uint64_t CopyOf(const Frame& frame) {
    const std::uint64_t cie = Append(EntryOf(sass_bytes_, frame.cie));
    const std::uint64_t code = Append(EntryOf(sass_bytes_, frame.code));
    SetCie(code, cie);
    return code + kAddressField;
  }
  // Of a body that is gone nothing is said but its size as Mercury code.
  std::uint64_t StubOf(const Frame& frame) {
    constexpr std::uint64_t kStubLength = 0x1c;
    std::array<std::uint8_t, kHead + kStubLength> stub = {};
    std::memcpy(stub.data(), &kEscape, sizeof(kEscape));
    std::memcpy(stub.data() + sizeof(kEscape), &kStubLength, sizeof(kStubLength));
    std::memcpy(stub.data() + kRangeField, mercury_bytes_.data() + frame.code.begin + kRangeField,
                sizeof(std::uint64_t));
    const std::uint64_t cie = Append(EntryOf(mercury_bytes_, frame.cie));
    const std::uint64_t code = Append(stub);
    SetCie(code, cie);
    return code + kAddressField;
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
