// SPDX-License-Identifier: Apache-2.0
//
// Where things of machine code are in a linked file of two views.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/hash_table.h"
#include "finalize/linked_file.h"
#include "format/elf_cuda.h"
#include "format/views.h"

namespace devlink::internal {

// InvalidArgument: a part has another one of these.
absl::Status Different(std::string_view what);

struct NamedSymbol {
  std::string_view name;  // that of the section where it stands for one
  format::Sym symbol = {};
};

class FileIndex {
 public:
  static constexpr std::uint32_t kSymbolTable = 3;  // LinkedFile::Read sees to that
  // Things that have a name, in the order in which they stand in the file.
  using ByName = base::HashMap<std::string_view, std::vector<std::uint32_t>>;

  explicit FileIndex(LinkedFile&& file);

  [[nodiscard]] const LinkedFile& file() const { return file_; }
  [[nodiscard]] LinkedFile& file() { return file_; }
  [[nodiscard]] const ByName& sections() const { return sections_; }
  [[nodiscard]] const std::vector<NamedSymbol>& symbols() const { return symbols_; }
  [[nodiscard]] const NamedSymbol* SymbolAt(std::uint32_t number) const {
    return number < symbols_.size() ? &symbols_[number] : nullptr;
  }
  // Numbers of the symbols that lie in a section.
  [[nodiscard]] const std::vector<std::uint32_t>& SymbolsOf(std::uint32_t section) const {
    return symbols_of_[section];
  }
  // Sections whose sh_info names this one: its attributes, relocations, constants.
  [[nodiscard]] const std::vector<std::uint32_t>& AttachedTo(std::uint32_t section) const {
    return attached_[section];
  }
  [[nodiscard]] std::vector<format::Rela> ReferencesOf(std::uint32_t list) const;
  [[nodiscard]] bool IsCode(std::uint32_t section) const {
    return (file_.header(section).flags & format::kShfExec) != 0 && !IsMercury(section);
  }
  [[nodiscard]] bool IsMercury(std::uint32_t section) const {
    return format::IsMercurySection(file_.header(section).flags);
  }
  // The one of this name that has as many of its kind before it as `other` has in `in`.
  [[nodiscard]] std::optional<std::uint32_t> CounterpartOf(std::uint32_t other,
                                                           const FileIndex& in) const {
    return CounterpartOf(other, in, in.file().NameOf(other));
  }
  // The same of one that has another name here.
  [[nodiscard]] std::optional<std::uint32_t> CounterpartOf(std::uint32_t other, const FileIndex& in,
                                                           std::string_view name) const;

 private:
  void AddSection(std::uint32_t section);
  void ReadSymbols();

  LinkedFile file_;
  ByName sections_;
  std::vector<std::vector<std::uint32_t>> attached_;    // by section
  std::vector<std::vector<std::uint32_t>> symbols_of_;  // by section
  std::vector<NamedSymbol> symbols_;
};

// Where a section of code comes from. Borrows the part.
struct TakenCode {
  const FileIndex* part = nullptr;
  std::uint32_t section = 0;
};

// By the section in our own file.
using CodeTaken = base::HashMap<std::uint32_t, TakenCode>;

}  // namespace devlink::internal
