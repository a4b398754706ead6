// SPDX-License-Identifier: Apache-2.0
#include "image/frames.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/align.h"
#include "format/frames.h"
#include "image/function_fields.h"
#include "image/section_bytes.h"

namespace devlink::internal {

namespace {

using format::Frame;
using format::FrameEntry;

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
    if (!from || !machine || AreLarge(*from) || AreLarge(*machine)) return {};
    FindBodies(*machine, bases);
    // Their addends are 0 but for parts of what an assembler laid out as a whole.
    const FunctionFields named = FunctionFieldsOf(mercury_.passes, mercury_.section);
    base::HashMap<std::uint64_t, Placed> placed;  // by the offset of the field in the Mercury view
    for (const Frame& frame : *from) {
      const auto code = named.find(frame.code.begin + format::kFrameAddressField);
      if (code == named.end()) continue;
      const Program& program = mercury_.passes.program;
      const FunctionId own = program.symbols[code->second->symbol].function;
      const bool is_part = code->second->addend != 0;
      auto& bodies = is_part ? parts_ : bodies_;
      const auto found = bodies.find(function_of[own]);
      const bool has_body =
          found != bodies.end() && found->second.IsLeft() && !hidden.contains(own);
      if (!has_body) {
        placed[code->first] = {StubOf(frame), is_part ? code->second->addend : 0};
        continue;
      }
      const BodyFrame& body = found->second.frames[found->second.copied];
      ++found->second.copied;  // a function has one body: once
      const std::uint64_t cie = CopyOf(body, SaidAtBegin(frame), placed[code->first]);
      for (const auto& [field, begin] : body.in_cie)
        placed[frame.cie.begin + field] = {cie + field, begin};
    }
    for (const KeptRelocation& kept : mercury_.passes.relocated.kept) {
      if (mercury_.passes.program.sections[kept.list].owner != mercury_.section) continue;
      const auto to = placed.find(kept.offset);
      if (to == placed.end()) continue;
      out_.addresses.push_back({to->second.field, kept.symbol, to->second.begin});
    }
    out_.made = true;
    return std::move(out_);
  }

 private:
  // Heads are copied for each entry. An assembler's have some fifty bytes, with -g 1,752.
  static bool AreLarge(const std::vector<Frame>& frames) {
    constexpr std::uint64_t kMostBytes = 4096;
    return std::ranges::any_of(frames,
                               [](const Frame& frame) { return frame.cie.size > kMostBytes; });
  }

  struct BodyFrame {
    Frame frame;
    std::int64_t begin = 0;
    // Fields of the CIE that name the function, as those of parts do: where they are in it, and
    // what they add to the function's place.
    std::vector<std::pair<std::uint64_t, std::int64_t>> in_cie;
  };
  // Those of one input.
  struct Body {
    InputId input = kNone;
    std::vector<BodyFrame> frames;
    std::size_t copied = 0;  // the first ones of them
    [[nodiscard]] bool IsLeft() const { return copied < frames.size(); }
  };
  struct Placed {
    std::uint64_t field = 0;  // of the address
    std::int64_t begin = 0;   // what it adds to the function's
  };

  // The frames of each function's body, which came from the input that the function is of.
  void FindBodies(const std::vector<Frame>& frames, const InputBases& bases) {
    const FunctionFields named = FunctionFieldsOf(sass_.passes, sass_.section);
    const Program& program = sass_.passes.program;
    for (const Frame& frame : frames) {
      const auto code = named.find(frame.code.begin + format::kFrameAddressField);
      if (code == named.end()) continue;
      const Symbol& function = program.symbols[code->second->symbol];
      const bool is_part = code->second->addend != 0;
      const InputId input = bases.InputAt(frame.code.begin);
      Body& body = (is_part ? parts_ : bodies_)[function.function];
      const bool is_another_part = is_part && body.input == input;
      if (!body.frames.empty() && function.input != input && !is_another_part) continue;
      // What -r has made of several copies has the frame of the body first.
      if (!body.frames.empty() && body.input == input && !is_part) continue;
      if (!is_another_part) body.frames.clear();
      body.input = input;
      body.frames.push_back({frame, code->second->addend, {}});
      if (!is_part) continue;
      for (std::uint64_t field = 0; field < frame.cie.size; ++field) {
        const auto in_cie = named.find(frame.cie.begin + field);
        if (in_cie == named.end()) continue;
        body.frames.back().in_cie.emplace_back(field, in_cie->second->addend);
      }
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

  // What the Mercury view's entry says of the place where the function begins.
  [[nodiscard]] std::vector<std::uint8_t> SaidAtBegin(const Frame& frame) const {
    const base::Bytes entry = EntryOf(mercury_bytes_, frame.code);
    const auto program = format::ReadFrameProgram(entry);
    std::vector<std::uint8_t> out;
    if (!program || !Begins(program->instructions)) return out;
    const auto [place, begin, end] = program->instructions.front();
    const base::Bytes said = entry.subspan(begin, end - begin);
    out.assign(said.begin(), said.end());
    return out;
  }
  static bool Begins(const std::vector<format::FrameInstruction>& instructions) {
    return !instructions.empty() && instructions.front().place == 0;
  }

  // The entry of a body; that of a body that it replaced may have said something of the place where
  // the function begins, and this one not: then both say it.
  void AppendCode(base::Bytes entry, base::Bytes said) {
    const auto program = format::ReadFrameProgram(entry);
    if (said.empty() || !program || program->instructions.empty() ||
        Begins(program->instructions)) {
      Append(entry);
      return;
    }
    const std::uint64_t at = out_.bytes.size();
    Append(entry.first(format::kFrameInstructions));
    Append(said);
    Append(entry.subspan(format::kFrameInstructions, program->end - format::kFrameInstructions));
    out_.bytes.resize(at + base::AlignUp(out_.bytes.size() - at, format::kFrameAlignment));
    const std::uint64_t length = out_.bytes.size() - at - format::kFrameHead;
    std::memcpy(out_.bytes.data() + at + sizeof(format::kFrameEscape), &length, sizeof(length));
  }

  // Each entry gets a CIE of its own, whose place is returned.
  std::uint64_t CopyOf(const BodyFrame& body, base::Bytes said, Placed& out) {
    const std::uint64_t cie = Append(EntryOf(sass_bytes_, body.frame.cie));
    const std::uint64_t code = out_.bytes.size();
    AppendCode(EntryOf(sass_bytes_, body.frame.code), said);
    SetCie(code, cie);
    out = {code + format::kFrameAddressField, body.begin};
    return cie;
  }
  // Returns the place of the address. Of a body that is gone nothing is said but its size as
  // Mercury code.
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
  base::HashMap<FunctionId, Body> bodies_;
  base::HashMap<FunctionId, Body> parts_;  // of a body
  Frames out_;
};

}  // namespace

Frames MakeFrames(const FrameView& mercury, const FrameView& sass, const InputBases& bases,
                  std::span<const FunctionId> function_of,
                  const base::HashSet<FunctionId>& hidden) {
  return FrameMaker(mercury, sass).Make(bases, function_of, hidden);
}

}  // namespace devlink::internal
