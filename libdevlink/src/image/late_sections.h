// SPDX-License-Identifier: Apache-2.0
//
// What the description of one view and that of two have in common: sections that come into being
// after all inputs, and how contents are put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "devlink/experimental/cubin_writer.h"
#include "image/output_form.h"
#include "link/pass_results.h"
#include "link/shared_partial.h"

namespace devlink::internal {

// Sections that name symbols by their index.
[[nodiscard]] bool LinksToSymbols(SectionKind kind);

// The numbers that nvlink has for the sections of a program, one after the other.
class SectionNumbers {
 public:
  // Borrows the program.
  explicit SectionNumbers(const Program& program);
  // Of the next section.
  std::uint32_t Next();

 private:
  const Program& program_;
  SectionId id_ = 0;
  std::uint32_t counted_ = 0;
  std::size_t skipped_ = 0;
};

struct CallSections {
  SectionHandle call_graph = kNoSection;
  SectionHandle prototypes = kNoSection;  // where a function has one
};
// The names of both enter the tables in any case.
CallSections AddCallSections(const PassResults& passes, CubinWriter& writer);

inline constexpr std::uint32_t kCallSections = 2;  // that nvlink counts for them

// A section of the program that stands behind those two (Section::comes_late), with nvlink's
// number.
struct NumberedSection {
  SectionId id = kNone;
  std::uint32_t number = 0;
};

// Whether a symbol is that of such a section, and comes with it.
[[nodiscard]] bool ComesLate(const Program& program, SymbolId symbol);

// `add(id, number)` for each section that is written, but for those that come late: they are
// returned.
template <typename Add>
std::vector<NumberedSection> AddInOrder(const Program& program, const OutputForm& form,
                                        const Add& add) {
  std::vector<NumberedSection> late;
  SectionNumbers numbers(program);
  for (SectionId id = 0; id < program.sections.size(); ++id) {
    const std::uint32_t number = numbers.Next();
    if (form.left_out().sections[id]) continue;
    if (program.sections[id].comes_late) {
      late.push_back({id, number + kCallSections});
    } else {
      add(id, number);
    }
  }
  return late;
}

// The symbols that nvlink makes up for `extern __shared__`, each followed by that of the kernel's
// memory if it came late, or by its name alone where it has no symbol.
template <typename AddInstance, typename AddSectionSymbol>
void AddInstances(const Program& program, const OutputForm& form,
                  const std::vector<NumberedSection>& late, CubinWriter& writer,
                  const AddInstance& add_instance, const AddSectionSymbol& add_section_symbol) {
  const auto add_late = [&](SectionId id) {
    const Section& section = program.sections[id];
    if (!section.comes_late) return;
    if (form.left_out().symbols[section.symbol]) {
      writer.AddName(kStringTable, section.name);
    } else {
      add_section_symbol(id);
    }
  };
  for (const ExternalInstance& instance : form.Instances()) {
    add_instance(instance);
    add_late(program.functions[instance.kernel].shared);
  }
  if (!form.Instances().empty()) return;
  for (const NumberedSection& section : late) add_late(section.id);
}

// Shared memory of a kernel (by its number in Liveness::kernels) that came to have some by what it
// calls, with so many bytes more than the layout counts. kNoSection where only its name is entered.
SectionHandle AddLateShared(const PassResults& passes, std::uint32_t kernel, std::uint64_t more,
                            CubinWriter& writer, base::StringArena& names);

// A bank of the compiler's constants, and a list of the relocations that stay in one.
[[nodiscard]] SectionSpec SpecOfBank(const ConstantBank& bank);
[[nodiscard]] SectionSpec SpecOfBankRelocations(std::string_view name);

// The symbol that nvlink makes up for `extern __shared__` of one kernel.
[[nodiscard]] SymbolSpec SpecOfInstance(const ExternalInstance& instance);

// Zeroes fill what lies between the pieces, and up to `size`.
template <typename Pieces>
void FillPieces(CubinWriter& writer, SectionHandle handle, const Pieces& pieces,
                std::uint64_t size) {
  for (const Piece& piece : pieces) {
    writer.AppendZeros(handle, piece.offset - writer.SizeOf(handle));
    writer.Append(handle, piece.bytes);
  }
  writer.AppendZeros(handle, size - writer.SizeOf(handle));
}

}  // namespace devlink::internal
