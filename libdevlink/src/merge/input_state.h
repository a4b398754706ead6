// SPDX-License-Identifier: Apache-2.0
//
// What the merge knows of the input in hand: where its sections and symbols went.
#pragma once

#include <cstdint>
#include <vector>

#include "model/module.h"
#include "model/program.h"

namespace devlink::internal {

// Where a section of an input went.
struct SectionMapping {
  enum State : std::uint8_t { kUnmapped, kMapped, kDiscarded };
  SectionId section = kNone;
  std::uint64_t base = 0;
  State state = kUnmapped;
  bool has_symbols = false;  // of constants of a discarded copy
};

struct InputState {
  struct Range {
    std::uint32_t section;
    std::uint64_t begin;
    std::uint64_t end;
  };

  // Begins with another input. The lists are kept to reuse their memory.
  void Begin(InputId input, const ModuleView& module, std::uint32_t compiled_for);

  InputId id = 0;
  std::uint32_t virtual_arch = 0;  // that the input was compiled for
  const ModuleView* view = nullptr;
  std::vector<InputSection> sections;

  // By symbol of the input.
  std::vector<SymbolId> symbols;         // kNone where it has none
  std::vector<bool> discarded;           // function symbols whose copy was discarded
  std::vector<bool> duplicate;           // weak variables that an earlier input has
  std::vector<std::uint32_t> registers;  // REGCOUNT

  // By section of the input.
  std::vector<SectionMapping> section_map;
  std::vector<SectionId> surviving;          // code of a discarded copy: that of the one that stays
  std::vector<std::uint64_t> constants_end;  // function constants: where their variables end
  std::vector<std::uint32_t> shared_of;      // code: its `.nv.shared.F`, 0 where none
  std::vector<std::uint32_t> parameters_of;  // code: its `.nv.constant0.F`, 0 where none

  // By section, empty where there is none: parameter banks that have another size than that of the
  // first kernel of the name, and its symbol.
  std::vector<SymbolId> odd_banks;

  std::vector<Range> discarded_data;  // bytes of duplicates: of initialised data and of constants
};

}  // namespace devlink::internal
