// SPDX-License-Identifier: Apache-2.0
//
// What nvlink 13.0 to 13.4 leaves in the null symbol where kernels are selected.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/bounded_reader.h"
#include "base/hash_table.h"
#include "model/program.h"

namespace devlink::internal {

// Where a link leaves kernels out, nvlink packs `.nv.constant3`: of equal pieces, one for each
// input, it writes the first only. Symbols and code keep the places that the pieces had before, so
// devlink writes the bank unpacked unless it is to be like nvlink in everything
// (docs/cubin-format.md, "Symbol table"). But the offset of the
// last piece that nvlink placed is the value of symbol 0, and that devlink writes too.
//
// Only pieces of 4 bytes aligned to 4, of 8 aligned to 8, and of 12, 16, 20, 24, 32, 48 or 64 bytes
// are compared and leave their offset; the others take their room. Those of 4 and 8 bytes that are
// 0 leave their offset, and each takes its room.
//
// Found: every size to 260 and some larger, at alignments 1 to 64, alone and in pairs, and 120
// random programs; nvlink 13.0 to 13.5. Repeated by tests/link/constant_packing_test.cc. Zeros:
// nine sequences of numbers, nvlink 13.0.
class ConstantPacking {
 public:
  // One input's part of the bank. `bytes` is borrowed.
  void Add(base::Bytes bytes, std::uint32_t align);
  // Nothing where no piece left its offset.
  [[nodiscard]] std::optional<std::uint64_t> last() const { return last_; }
  // The bank as nvlink writes it.
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
  std::optional<std::uint64_t> last_;
  base::HashSet<std::pair<absl::string_view, std::uint32_t>> seen_;  // bytes and alignment
};

}  // namespace devlink::internal
