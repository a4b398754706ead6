// SPDX-License-Identifier: Apache-2.0
//
// What nvlink leaves in its files that means nothing to their readers, but has to be there for its
// bytes to be met.
#pragma once

#include <cstdint>
#include <string_view>

#include "devlink/experimental/cubin_writer.h"

namespace devlink::internal {

// Borrows the writer, which must not move meanwhile.
class ResidueWriter {
 public:
  explicit ResidueWriter(CubinWriter& writer) : state_(*writer.state_) {}

  // A name in `.strtab` among those of the global part that no symbol bears.
  void AddLateSymbolName(std::string_view name);

  // Another name for a symbol, which enters `.strtab` behind those of the global part that were
  // added before, with `anew` also where it stands there already. Nothing is said of the first
  // name.
  void RenameLate(SymbolHandle symbol, std::string_view name, bool anew = false);

  // The value of symbol 0 of all symbol tables so far, which is 0 in other files.
  void SetNullSymbolValue(std::uint64_t value);

  // What tables of wide indices say of symbols in this section while its index is below 0xff00,
  // where they do not count; else they have the section's index.
  void SetWideIndex(SectionHandle section, std::uint32_t number);

  // They have 0 for every section so far whose index is below 0xff00.
  void ClearWideIndices();

  // Bytes of `.shstrtab` with the names that were entered so far.
  [[nodiscard]] std::uint64_t SizeOfSectionNames() const;

  // Says that no section and no section's name is added any more, and so frees what finds their
  // names again.
  void CompleteSections();

 private:
  CubinWriter::State& state_;
};

}  // namespace devlink::internal
