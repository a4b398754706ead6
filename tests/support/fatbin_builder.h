// SPDX-License-Identifier: Apache-2.0
//
// Puts fat binaries together byte by byte, also such as fatbinary does not make. Deliberately
// independent of the library's own writer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "devlink/arch.h"
#include "devlink/experimental/code_choice.h"

namespace devlink::testing {

// One member; every field may be set.
struct FatbinBuilder {
  CodeKind kind = CodeKind::kPtx;
  Arch arch;
  bool is_64bit = true;
  std::string options;  // not for cubins
  std::vector<std::uint8_t>
      compat;  // `.nv.compat`; cubins for sm_100 and later have a record of it

  // Header and payload, not compressed.
  [[nodiscard]] std::vector<std::uint8_t> Member(std::span<const std::uint8_t> code) const;

  static std::vector<std::uint8_t> Container(const std::vector<std::vector<std::uint8_t>>& members);
};

}  // namespace devlink::testing
