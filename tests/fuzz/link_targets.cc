// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "damage/losses.h"
#include "devlink/devlink.h"
#include "fuzz/targets.h"
#include "support/text.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

// Takes numbers from the front; zeroes where there are no more bytes.
class Choices {
 public:
  explicit Choices(FuzzBytes bytes) : bytes_(bytes) {}
  std::uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  std::uint32_t Below(std::uint32_t limit) { return Byte() % limit; }
  std::uint32_t Word() { return Byte() | std::uint32_t{Byte()} << 8; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  FuzzBytes bytes_;
};

// Few names, so that inputs define, call and replace each other's functions.
constexpr std::array<std::string_view, 12> kNames = {"a", "b", "c", "d",  "e",  "f",
                                                     "g", "h", "i", "k1", "k2", "k3"};

FunctionSpec DecodeFunction(Choices& choices, std::string_view name) {
  const std::uint8_t flags = choices.Byte();
  FunctionSpec function{.name = std::string(name),
                        .kernel = name.size() > 1,
                        .weak = (flags & 1) != 0,
                        .registers = choices.Byte(),
                        .frame = choices.Word()};
  if (function.kernel && (flags & 2) != 0) function.static_shared = choices.Word();
  for (std::uint32_t calls = (flags >> 2) % 8; calls > 0; --calls) {
    function.calls.emplace_back(kNames[choices.Below(kNames.size())]);
  }
  return function;
}

CubinSpec DecodeCubin(Choices& choices) {
  constexpr std::array<std::uint16_t, 4> kArchs = {80, 75, 90, 86};
  CubinSpec cubin;
  const std::uint8_t shape = choices.Byte();
  // Most links are of inputs for one target.
  if ((shape & 0xc0) == 0xc0) cubin.sm = kArchs[choices.Below(kArchs.size())];
  std::uint32_t present = choices.Word() & 0xfff;
  if (present == 0) present = 0x200;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if ((present >> i & 1) != 0) cubin.functions.push_back(DecodeFunction(choices, kNames[i]));
  }
  if ((shape & 1) != 0) {
    cubin.global_bytes = choices.Word() % 512;
    cubin.global_name = (shape & 2) != 0 ? "v" : "w";
  }
  return cubin;
}

struct Program {
  std::vector<Cubin> inputs;
  bool damaged = false;
  bool debug = false;
};

// How many cubins, the cubins, and behind them places and values of damage to the first.
Program Decode(FuzzBytes bytes) {
  Choices choices(bytes);
  const std::uint8_t shape = choices.Byte();
  Program program;
  program.debug = (shape & 0x10) != 0;
  for (std::uint32_t count = 1 + shape % 4; count > 0; --count) {
    program.inputs.push_back(BuildCubin(DecodeCubin(choices)));
  }
  Cubin& first = program.inputs.front();
  for (int i = 0; i < 8 && !choices.empty(); ++i) {
    const std::size_t at = choices.Word() % first.size();
    const std::uint8_t change = choices.Byte();
    first[at] = static_cast<std::uint8_t>(first[at] ^ change);
    program.damaged |= change != 0;
  }
  first.shrink_to_fit();  // so that a sanitizer sees a read past the end
  return program;
}

enum class Mode { kExecutable, kRelocatable, kKeepReferences };

LinkOutcome Link(std::span<const Cubin> inputs, Mode mode, bool debug) {
  LinkOptions options;
  options.target = Arch{.number = 80};
  options.debug = debug;
  options.relocatable = mode != Mode::kExecutable;
  options.keep_references = mode == Mode::kKeepReferences;
  return LinkFuzzed(inputs, std::move(options));
}

void ExpectNothingLost(const Cubin& input, Mode mode) {
  const LinkOutcome alone = Link({&input, 1}, mode, false);
  if (!alone.ok()) return;
  const std::vector<std::string> lost = mode == Mode::kExecutable
                                            ? LossesOfLink(input, alone.cubin)
                                            : LossesOfPartialLink(input, alone.cubin);
  if (!lost.empty()) Expect(false, Cat("lost: ", lost.front()));
}

}  // namespace

void FuzzLink(FuzzBytes bytes) {
  const Program program = Decode(bytes);
  const LinkOutcome whole = Link(program.inputs, Mode::kExecutable, program.debug);
  const LinkOutcome partial = Link(program.inputs, Mode::kRelocatable, program.debug);
  if (partial.ok()) {
    // What the linker writes it reads. It links where the inputs do, but for what they lack.
    const LinkOutcome next = Link({&partial.cubin, 1}, Mode::kExecutable, program.debug);
    if (whole.ok() && !program.damaged) Expect(next.ok(), "the output of -r does not link");
  }
  if (whole.ok()) {
    const LinkOutcome again = Link(program.inputs, Mode::kExecutable, program.debug);
    Expect(again.cubin == whole.cubin, "a second link gives another output");
  }
  ExpectNothingLost(program.inputs.front(), Mode::kExecutable);
  ExpectNothingLost(program.inputs.front(), Mode::kKeepReferences);
}

namespace {

// A session and what may be done to it, in any order.
class Caller {
 public:
  explicit Caller(FuzzBytes bytes) : choices_(bytes) {}

  void Run() {
    Create();
    for (int steps = 0; steps < 24 && !choices_.empty(); ++steps) Step();
  }

 private:
  void Create() {
    LinkOptions options;
    const std::uint8_t bits = choices_.Byte();
    options.target = Arch{.number = static_cast<std::uint16_t>((bits & 1) != 0 ? 75 : 80)};
    options.relocatable = (bits & 2) != 0;
    options.debug = (bits & 4) != 0;
    options.check_only = (bits & 8) != 0;
    options.verbose = (bits & 16) != 0;
    options.end_at_rejected_input = (bits & 32) != 0;
    if ((bits & 64) != 0) options.max_memory_bytes = 64 * choices_.Word();
    if ((bits & 128) != 0) options.kernels_used = {std::string(1, 'a' + choices_.Below(26))};
    auto session = LinkSession::Create(options, {.pool = pool_});
    if (session.ok()) session_ = *std::move(session);
  }

  Cubin NextCubin() {
    Cubin cubin = BuildCubin(DecodeCubin(choices_));
    if (choices_.Below(4) == 0) {
      const std::size_t at = choices_.Word() % cubin.size();
      cubin[at] = choices_.Byte();
    }
    return cubin;
  }

  void Step() {
    switch (choices_.Below(12)) {
      case 0:
        return Create();
      case 1:
        if (session_)
          (void)session_->AddCubin("copied", std::span<const std::uint8_t>(NextCubin()));
        return;
      case 2:
        if (session_) (void)session_->AddInput("moved.cubin", NextCubin());
        return;
      case 3: {
        const auto module = pool_->AddCubin(NextCubin());
        if (!module.ok()) return;
        (void)InspectModule(*module);
        if (session_) (void)session_->AddModule("shared", *module);
        if (choices_.Below(2) == 0) pool_->Remove(*module);
        return;
      }
      case 4:
        return pool_->Clear();
      case 5:
        if (session_) other_ = *session_;  // a copy goes on by itself
        return;
      case 6:
        return std::swap(session_, other_);
      case 7:
        if (session_) session_->AddHostReferences(References());
        return;
      case 8:
        if (session_) {
          std::vector<MemoryInput> inputs;
          for (std::uint32_t n = choices_.Below(4); n > 0; --n) {
            inputs.push_back({"of several", NextCubin()});
          }
          (void)session_->AddInputs(std::move(inputs));
        }
        return;
      case 9:
        if (session_) (void)session_->diagnostics();
        return;
      default:
        return LinkTwice();
    }
  }

  HostReferences References() {
    HostReferences references;
    references.kernels_external.present = choices_.Below(2) == 0;
    for (std::uint32_t n = choices_.Below(3); n > 0; --n) {
      references.kernels_external.names.emplace_back(kNames[choices_.Below(kNames.size())]);
    }
    return references;
  }

  // A link changes nothing: the next one gives the same.
  void LinkTwice() const {
    if (!session_) return;
    const LinkOutcome first = session_->Link();
    const LinkOutcome second = session_->Link();
    Expect(first.cubin == second.cubin && first.status == second.status,
           "a link changed its session");
    Expect(first.ok() || !first.diagnostics.empty(), "failed without a word");
  }

  Choices choices_;
  std::shared_ptr<ModulePool> pool_ = std::make_shared<ModulePool>();
  std::optional<LinkSession> session_;
  std::optional<LinkSession> other_;
};

}  // namespace

void FuzzApi(FuzzBytes bytes) { Caller(bytes).Run(); }

}  // namespace devlink::testing
