// SPDX-License-Identifier: Apache-2.0
//
// Small cubins for tests, made with CubinWriter: what ptxas would write, as far as the linker
// looks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace devlink::testing {

using Cubin = std::vector<std::uint8_t>;

struct FunctionSpec {
  std::string name;
  std::vector<std::string> calls;  // of this or of other cubins
  bool kernel = false;
  bool weak = false;
  std::uint32_t registers = 8;
  std::uint32_t frame = 0;
  std::uint32_t static_shared = 0;  // entries only: bytes of a variable of its own
};

struct CubinSpec {
  std::uint16_t sm = 80;
  std::uint16_t toolkit = 130;
  bool names_tool = true;  // has `.note.nv.tkinfo`
  std::vector<FunctionSpec> functions;
  std::uint32_t global_bytes = 0;  // a variable `.nv.global.init` of that size
  std::string global_name = "variable";
};

// Never fails for names that are all different.
Cubin BuildCubin(const CubinSpec& spec);

}  // namespace devlink::testing
