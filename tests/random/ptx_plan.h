// SPDX-License-Identifier: Apache-2.0
//
// The plan of a random PTX program: which functions and variables it has and where they are
// defined. What their bodies do is decided later, per file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "random/prng.h"
#include "random/random_program.h"

namespace devlink::testing {

// Letters: v nothing, i b32, l b64, f f32, d f64, s a structure of 16 bytes.
struct PtxPrototype {
  char result = 'v';
  std::string_view arguments;
};

const std::vector<PtxPrototype>& PtxPrototypes();

struct PtxFunction {
  enum class Kind { kEntry, kWeakEntry, kDevice, kWeak, kStatic, kAlias };
  std::string name;
  Kind kind = Kind::kDevice;
  std::size_t prototype = 0;  // not for entries
  std::vector<int> files;     // where it is defined
  int strong_file = -1;       // the one of them where a weak function is not weak
  bool equal_bodies = true;   // the same body in all files
  std::uint64_t body_seed = 0;
  std::size_t alias_of = 0;  // for kAlias
  int parameter_bytes = 0;   // of an entry's structure parameter, 0 for none
  std::string directives;    // of an entry: launch bounds, cluster shape

  [[nodiscard]] bool IsEntry() const { return kind == Kind::kEntry || kind == Kind::kWeakEntry; }
  [[nodiscard]] bool DefinedIn(int file) const;
};

struct PtxVariable {
  enum class Space { kGlobal, kConst, kShared, kExternShared, kTexture, kSurface };
  enum class Linkage { kVisible, kStatic, kWeak, kCommon };
  enum class Init { kNone, kNumbers, kVariables, kGenericVariables, kFunctions, kMasked };
  std::string name;
  Space space = Space::kGlobal;
  Linkage linkage = Linkage::kVisible;
  Init init = Init::kNone;
  int element_bytes = 4;  // 1, 2, 4 or 8
  int count = 1;
  int align = 4;
  bool managed = false;
  std::vector<int> files;  // where it is defined

  [[nodiscard]] bool DefinedIn(int file) const;
};

struct PtxPlan {
  ProgramTarget target;
  GeneratorLimits limits;
  int files = 1;
  bool line_info = false;            // .file and .loc in the text
  std::uint64_t entry_pointers = 0;  // seed of variables that point to entries; 0: there are none
  std::vector<PtxFunction> functions;
  std::vector<PtxVariable> variables;

  [[nodiscard]] bool Has(std::uint32_t feature) const { return (limits.features & feature) != 0; }
};

PtxPlan MakePtxPlan(Prng& random, ProgramTarget target, const GeneratorLimits& limits);

}  // namespace devlink::testing
