// SPDX-License-Identifier: Apache-2.0
//
// `.nv.callgraph`: lists of pairs, each behind a marker (docs/cubin-format.md, "Call graph and
// prototypes").
#pragma once

#include <cstdint>

#include "base/bounded_reader.h"

namespace devlink::format {

// Found in small links with function-pointer tables, virtual functions and recursion. No 13.x tool
// writes another list.
enum class CallGraphList : std::uint32_t {
  kNone = 0,             // before the first marker
  kCalls = 1,            // caller, callee
  kAddressesTaken = 2,   // function, offset of its prototype
  kIndirectCallers = 3,  // function that calls through a pointer, offset of the prototype
  kAddressTakers = 4,    // function, function whose address it takes
};

// The first release whose assembler puts every function whose address is taken into the last list:
// that of 12.0 leaves some out, that of 12.2 none (random programs).
inline constexpr std::uint16_t kAddressesNamedSince = 122;

// Both words of a pair are indices of symbols; else the second is an offset into `.strtab`. The
// loader checks words by this, and the merge uses them unchecked.
constexpr bool HoldsSymbolPairs(CallGraphList list) {
  return list == CallGraphList::kCalls || list == CallGraphList::kAddressTakers;
}

// The second word of the marker that begins a list; the first one is 0.
constexpr std::uint32_t CallGraphMarker(CallGraphList list) {
  return std::uint32_t{0} - static_cast<std::uint32_t>(list);
}

struct CallGraphPair {
  CallGraphList list = CallGraphList::kNone;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

// Walks the pairs of one section; what is left of a size that is not a multiple of 8 does not
// count.
class CallGraphReader {
 public:
  explicit CallGraphReader(base::Bytes bytes) : reader_(bytes) {}

  // The next pair; false at the end.
  bool Next(CallGraphPair& out) {
    while (reader_.Read(offset_, out.first) && reader_.Read(offset_ + 4, out.second)) {
      offset_ += 8;
      const bool is_marker = out.first == 0 && (out.second >> 31) != 0;
      if (!is_marker) {
        out.list = list_;
        return true;
      }
      const auto before = static_cast<std::uint32_t>(list_);
      list_ = static_cast<CallGraphList>(CallGraphMarker(static_cast<CallGraphList>(out.second)));
      in_order_ = in_order_ && static_cast<std::uint32_t>(list_) == before + 1;
    }
    return false;
  }

  // The list of the last pair or marker.
  [[nodiscard]] CallGraphList list() const { return list_; }
  // Whether the lists so far stood in order, from the first on and without a gap.
  [[nodiscard]] bool in_order() const { return in_order_; }
  // Where the last pair ends.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  base::BoundedReader reader_;
  std::uint64_t offset_ = 0;
  CallGraphList list_ = CallGraphList::kNone;
  bool in_order_ = true;
};

}  // namespace devlink::format
