// SPDX-License-Identifier: Apache-2.0
//
// A cubin as it was read: checked once, immutable afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"
#include "devlink/module.h"
#include "format/elf_cuda.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

using format::SectionRole;

// A section as its view has it: with the name, type and flags of its counterpart in machine code.
struct InputSection {
  std::string_view name;
  base::Bytes data;  // empty for sections without bytes in the file
  std::uint64_t size = 0;
  std::uint32_t flags = 0;  // no CUDA tool uses the upper half of sh_flags
  std::uint32_t type = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint32_t align = 1;
  std::uint8_t entry_size = 0;
  SectionRole role = SectionRole::kTable;
  // Its own flags do not say that sh_info names a section (format::FlagsOf).
  bool lacks_info_link = false;

  // A kernel's parameters: bank 0 of its constants.
  [[nodiscard]] bool IsParameterBank() const {
    return role == SectionRole::kFunctionConstants &&
           format::BankOfType(type) == format::kParameterBank;
  }
};

struct InputSymbol {
  std::string_view name;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::uint32_t section = 0;  // an index, or a reserved number (kShnCommon)
  std::uint8_t binding = 0;
  std::uint8_t type = 0;
  std::uint8_t other = 0;
};

// What a symbol stands for, as far as its type tells.
SymbolKind KindOf(const InputSymbol& symbol);

// One program as the merge sees it: a symbol table and the sections that go with it. A cubin for
// sm_75 to sm_90a holds one; a later one holds two over the same file.
class ModuleView {
 public:
  explicit ModuleView(format::ViewKind kind = format::ViewKind::kSass) : kind_(kind) {}

  [[nodiscard]] format::ViewKind kind() const { return kind_; }
  // Of an extensible whole program (format::kTypeEwp): shared memory of its kernels is laid out.
  [[nodiscard]] bool extensible() const { return extensible_; }
  // Decoded anew by every call: a module keeps no more than its bytes and a byte per section, so
  // that thousands of modules cost little more than their files.
  [[nodiscard]] std::vector<InputSection> sections() const {
    std::vector<InputSection> out;
    GetSections(out);
    return out;
  }
  // The same in a list that had another module's, whose memory it takes.
  void GetSections(std::vector<InputSection>& out) const;
  // `index` must be below section_count() in both. Sections of another view have a role only.
  [[nodiscard]] SectionRole RoleAt(std::uint32_t index) const { return roles_[index]; }
  [[nodiscard]] InputSection SectionAt(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t section_count() const {
    return static_cast<std::uint32_t>(roles_.size());
  }
  [[nodiscard]] std::uint32_t symbol_count() const { return symbol_count_; }
  // `index` must be below symbol_count().
  [[nodiscard]] InputSymbol SymbolAt(std::uint32_t index) const;
  // Of SymbolAt what tells of its kind, for whoever passes over most symbols by it.
  struct SymbolTraits {
    std::uint8_t binding = 0;
    std::uint8_t type = 0;
    std::uint8_t other = 0;
  };
  [[nodiscard]] SymbolTraits SymbolTraitsAt(std::uint32_t index) const {
    static_assert(offsetof(format::Sym, other) == offsetof(format::Sym, info) + 1);
    const auto bytes = base::BoundedReader(symbols_).ReadOrZero<std::array<std::uint8_t, 2>>(
        std::uint64_t{index} * sizeof(format::Sym) + offsetof(format::Sym, info));
    return {.binding = static_cast<std::uint8_t>(bytes[0] >> 4),
            .type = static_cast<std::uint8_t>(bytes[0] & 15),
            .other = bytes[1]};
  }
  // Its type alone.
  [[nodiscard]] std::uint8_t SymbolTypeAt(std::uint32_t index) const {
    return SymbolTraitsAt(index).type;
  }
  // Of SymbolAt the section alone.
  [[nodiscard]] std::uint32_t SymbolSectionAt(std::uint32_t index) const {
    const auto section = base::BoundedReader(symbols_).ReadOrZero<std::uint16_t>(
        std::uint64_t{index} * sizeof(format::Sym) + offsetof(format::Sym, shndx));
    return WideSection(index, section);
  }
  // The string at an offset of the symbol table's string table; empty where there is none.
  [[nodiscard]] std::string_view StringAt(std::uint32_t offset) const;

 private:
  friend class ModuleLoader;
  // A symbol's section by what its entry says: wide numbers stand elsewhere.
  [[nodiscard]] std::uint32_t WideSection(std::uint32_t index, std::uint32_t section) const;
  // The code section of this view for the function whose machine code is section `text`: shared
  // memory, which both views have, names the latter. 0 where there is none.
  [[nodiscard]] std::uint32_t CodeOf(std::uint32_t text) const;

  format::ViewKind kind_;
  bool of_two_ = false;  // the file has another view
  bool extensible_ = false;
  base::Bytes file_;
  base::Bytes headers_;             // one format::Shdr per section
  base::Bytes names_;               // the section name table
  std::vector<SectionRole> roles_;  // by section
  base::Bytes symbols_;
  base::Bytes wide_indices_;  // `.symtab_shndx`
  base::Bytes strings_;
  std::uint32_t symbol_count_ = 0;
};

class Module {
 public:
  // Checks everything that later passes rely on: section and string bounds, symbol, section and
  // string references, record structure, relocation fields. InvalidArgument otherwise, with the
  // place and what is wrong there; Unimplemented for a sound file of a kind that is not linked.
  static absl::StatusOr<ModuleRef> Load(std::vector<std::uint8_t> bytes);

  [[nodiscard]] base::Bytes bytes() const { return bytes_; }
  // Every relocatable module has machine code; from sm_100 on it has a Mercury view, too.
  [[nodiscard]] const ModuleView& sass() const { return sass_; }
  [[nodiscard]] bool HasView(format::ViewKind kind) const {
    return kind == format::ViewKind::kSass || mercury_ != nullptr;
  }
  // One that the module has.
  [[nodiscard]] const ModuleView& view(format::ViewKind kind) const {
    return kind == format::ViewKind::kSass ? sass_ : *mercury_;
  }

  [[nodiscard]] bool relocatable() const {
    return header_.type == format::kTypeRel || header_.type == format::kTypeEwp;
  }
  [[nodiscard]] std::uint32_t sm() const { return format::SmOf(header_); }
  [[nodiscard]] const format::Ehdr& header() const { return header_; }
  // The toolkit that made it (130 for 13.0); 0 where it does not say.
  [[nodiscard]] std::uint16_t toolkit() const { return toolkit_; }
  // What it was compiled for (80 for compute_80); 0 where it does not say.
  [[nodiscard]] std::uint16_t virtual_arch() const { return virtual_arch_; }
  // Built for an 'a' target: code that no other architecture runs.
  [[nodiscard]] bool architecture_specific() const { return architecture_specific_; }

 private:
  friend class ModuleLoader;
  std::vector<std::uint8_t> bytes_;
  format::Ehdr header_ = {};
  ModuleView sass_;
  std::unique_ptr<ModuleView> mercury_;
  std::uint16_t toolkit_ = 0;
  std::uint16_t virtual_arch_ = 0;
  bool architecture_specific_ = false;
};

// The module of these bytes, from the pool where there is one: it keeps one for each content.
absl::StatusOr<ModuleRef> LoadModule(ModulePool* pool, std::vector<std::uint8_t>&& bytes);
absl::StatusOr<ModuleRef> LoadModule(ModulePool* pool, base::Bytes bytes);

}  // namespace devlink::internal
