// SPDX-License-Identifier: Apache-2.0
//
// The switches of the optimiser's pipeline, after a description of libNVVM 13.0. Nothing in its
// public interface shows them, so nothing here is measured. The description numbers some of the
// guards differently in two places; these numbers are the ones that its list of defaults and the
// sizes of the switches agree on.
#include "lto/nvvm_pass_slots.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace devlink::internal {

namespace {

using Sure = NvvmSlotConfidence;

struct Described {
  int number;
  std::string_view pass;
  bool disables;
  Sure confidence;
};

// By number.
constexpr Described kDescribed[] = {
    {9, "optimisation threshold", false, Sure::kMedium},
    {13, "dead code elimination", true, Sure::kMedium},
    {15, "tail call elimination, jump threading", true, Sure::kMedium},
    {17, "late NVVM optimisations", true, Sure::kMedium},
    {19, "always-inliner, first gate", true, Sure::kMedium},
    {21, "always-inliner, second gate", true, Sure::kMedium},
    {23, "inliner", true, Sure::kMedium},
    {25, "a pass of NVIDIA's own", false, Sure::kLow},
    {29, "NVVM verifier", true, Sure::kMedium},
    {33, "function attributes", true, Sure::kMedium},
    {35, "sparse conditional constant propagation", true, Sure::kMedium},
    {37, "dead store elimination", true, Sure::kMedium},
    {43, "NVVM reflection", true, Sure::kMedium},
    {45, "interprocedural constant propagation", true, Sure::kMedium},
    {47, "control flow simplification", true, Sure::kMedium},
    {49, "instruction combining", true, Sure::kMedium},
    {51, "early sinking, control flow simplification", true, Sure::kMedium},
    {53, "printing of the module", true, Sure::kMedium},
    {55, "predicate optimisation", true, Sure::kMedium},
    {57, "loop index splitting", true, Sure::kMedium},
    {59, "control flow simplification, by level", true, Sure::kMedium},
    {61, "loop invariant code motion, extra gate", true, Sure::kMedium},
    {63, "reassociation, sinking", true, Sure::kMedium},
    {65, "aggressive dead code elimination", true, Sure::kMedium},
    {67, "loop unrolling", true, Sure::kMedium},
    {69, "scalar replacement of aggregates", true, Sure::kMedium},
    {71, "early common subexpressions", true, Sure::kMedium},
    {73, "aggressive dead code elimination, extra gate", true, Sure::kMedium},
    {75, "loop simplification", true, Sure::kMedium},
    {81, "warp shuffles", true, Sure::kMedium},
    {87, "memory space optimisation", true, Sure::kMedium},
    {91, "aggressive dead code elimination, variant", true, Sure::kMedium},
    {93, "constant merging", false, Sure::kHigh},
    {95, "lowering of NVVM intrinsics", false, Sure::kHigh},
    {97, "constant merging, global dead code", true, Sure::kMedium},
    {99, "lowering of NVVM intrinsics", true, Sure::kMedium},
    {101, "memcpy optimisation", true, Sure::kMedium},
    {103, "branch distribution, first gate", true, Sure::kMedium},
    {105, "branch distribution, second gate", true, Sure::kMedium},
    {107, "predicate optimisation, variant", true, Sure::kMedium},
    {109, "conversion of generic to NVVM", true, Sure::kMedium},
    {111, "lowering of allocas, first gate", true, Sure::kMedium},
    {113, "lowering of allocas, second gate", true, Sure::kMedium},
    {115, "rematerialisation", true, Sure::kMedium},
    {117, "unreachable block elimination", true, Sure::kHigh},
    {119, "reduction", true, Sure::kMedium},
    {121, "second sinking", true, Sure::kMedium},
    {127, "generic address optimisation", true, Sure::kMedium},
    {129, "verification of NVVM IR", true, Sure::kMedium},
    {131, "loop and barrier optimisation", true, Sure::kMedium},
    {133, "memory space optimisation, second run", true, Sure::kMedium},
    {135, "instruction simplification", true, Sure::kMedium},
    {137, "loop unswitching, variant", true, Sure::kMedium},
    {141, "aggressive dead code elimination", false, Sure::kHigh},
    {143, "loop invariant code motion", false, Sure::kHigh},
    {145, "lowering of barriers", false, Sure::kMedium},
    {149, "an early pass", true, Sure::kMedium},
    {151, "correlated value propagation", false, Sure::kMedium},
    {155, "memory space optimisation, second run", false, Sure::kMedium},
    {157, "printing of the module", false, Sure::kHigh},
    {159, "gating by optimisation level", false, Sure::kMedium},
    {165, "late part of the pipeline", false, Sure::kLow},
    {173, "barrier analysis and lowering", false, Sure::kMedium},
    {181, "language of the path", false, Sure::kMedium},
    {183, "late optimisations", false, Sure::kMedium},
    {193, "debugging and verification", false, Sure::kMedium},
    {195, "names of basic blocks", false, Sure::kMedium},
    {197, "a limit", false, Sure::kMedium},
    {201, "concurrent compilation", false, Sure::kMedium},
    {203, "number of threads", false, Sure::kMedium},
    {205, "number of threads, fallback", false, Sure::kMedium},
    {207, "an integer parameter", false, Sure::kMedium},
    {209, "optimisation as a whole", false, Sure::kMedium},
    {211, "a late pass", false, Sure::kLow},
    {213, "pipeline for device code", false, Sure::kMedium},
    {215, "a counter", false, Sure::kMedium},
    {217, "bypass for fast compilation", false, Sure::kMedium},
    {219, "a late pass", false, Sure::kLow},
    {221, "late clean-up of control flow", true, Sure::kMedium},
};

// Switches that are on unless they are turned off.
constexpr std::array kOnByDefault = {19,  25,  93,  95,  117, 141, 143,
                                     151, 155, 157, 159, 165, 211, 219};

struct Integer {
  int number;
  std::string_view default_value;
};
constexpr Integer kIntegers[] = {{9, "1"},    {197, "20"}, {203, "-1"},
                                 {205, "-1"}, {207, "-1"}, {215, "0"}};

// A text and the switch that it belongs to take turns, the text on the even number; first come six
// texts for the compilation as a whole, and two places break the rhythm.
NvvmSlotKind KindOf(int number) {
  if (number == 181) return NvvmSlotKind::kTextPointer;
  if (std::ranges::find(kIntegers, number, &Integer::number) != std::end(kIntegers)) {
    return NvvmSlotKind::kInteger;
  }
  if (number == 192) return NvvmSlotKind::kBoolean;
  const bool text = number <= 6 || number % 2 == 0 || number == 161 || number == 191;
  return text ? NvvmSlotKind::kText : NvvmSlotKind::kBoolean;
}

}  // namespace

NvvmPassSlot NvvmPassSlotAt(int number) {
  if (number < 1 || number > kNvvmPassSlots) return {};
  NvvmPassSlot slot{.number = number, .kind = KindOf(number)};
  if (slot.kind == NvvmSlotKind::kInteger) {
    slot.default_value = std::ranges::find(kIntegers, number, &Integer::number)->default_value;
  } else if (slot.kind == NvvmSlotKind::kBoolean) {
    slot.default_value = std::ranges::count(kOnByDefault, number) > 0 ? "1" : "0";
  }
  const auto* described = std::ranges::find(kDescribed, number, &Described::number);
  if (described != std::end(kDescribed)) {
    slot.pass = described->pass;
    slot.disables = described->disables;
    slot.confidence = described->confidence;
  }
  return slot;
}

}  // namespace devlink::internal
