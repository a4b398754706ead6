// SPDX-License-Identifier: Apache-2.0
#include "finalize/agreement.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "finalize/linked_file.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

// A symbol by what it means, in whatever order the file has it. Of what lies in code only that it
// is there. Where a file is so large that 16 bits do not name the section, that is left open.
struct SymbolMeaning {
  std::string_view name;
  std::string_view section;
  std::uint8_t info = 0;
  std::uint8_t other = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  friend auto operator<=>(const SymbolMeaning&, const SymbolMeaning&) = default;
};

// A reference, by the section that has the field. Fields of code may have moved, and so may the
// places in it that are referred to.
struct ReferenceMeaning {
  std::string_view list;  // the section of the reference
  std::uint64_t offset = 0;
  std::string_view symbol;
  std::uint32_t type = 0;
  std::int64_t addend = 0;
  friend auto operator<=>(const ReferenceMeaning&, const ReferenceMeaning&) = default;
};

struct SectionMeaning {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t size = 0;
  std::uint32_t index = 0;
  friend auto operator<=>(const SectionMeaning&, const SectionMeaning&) = default;
};

// Constants that the compiler made, jump tables among them, are places in code, too.
bool BelongsToCode(std::string_view section) {
  return format::BankOfName(section) == format::kCompilerBank;
}

// What the machine code of a file is, sorted.
class Meaning {
 public:
  static absl::StatusOr<Meaning> Of(base::Bytes bytes) {
    DEVLINK_ASSIGN_OR_RETURN(LinkedFile file, LinkedFile::Read(bytes));
    Meaning out(std::move(file));
    for (std::uint32_t i = 1; i < out.file_.section_count(); ++i) {
      if (out.file_.header(i).type != format::kShtSymtab) continue;
      out.AddSymbols(i);
      break;  // that of the Mercury view is of another type
    }
    for (std::uint32_t i = 1; i < out.file_.section_count(); ++i) out.AddSection(i);
    std::sort(out.symbols.begin(), out.symbols.end());
    std::sort(out.references.begin(), out.references.end());
    std::sort(out.sections.begin(), out.sections.end());
    return out;
  }

  [[nodiscard]] base::Bytes DataOf(const SectionMeaning& section) const {
    return file_.DataOf(section.index);
  }
  [[nodiscard]] const LinkedFile& file() const { return file_; }

  std::vector<SymbolMeaning> symbols;
  std::vector<ReferenceMeaning> references;
  std::vector<SectionMeaning> sections;  // of variables and constants, and of code without a size
  // Of the compiler, by name; static functions of one name have some each.
  std::map<std::string_view, std::vector<std::uint32_t>> constants;

 private:
  struct Named {
    std::string_view name;
    bool is_code = false;  // what is added to it is a place in code
  };

  explicit Meaning(LinkedFile&& file) : file_(std::move(file)) {}

  void AddSymbols(std::uint32_t table) {
    table_ = table;
    const std::uint32_t link = file_.header(table).link;
    const base::BoundedReader bytes(file_.DataOf(table));
    const base::BoundedReader names(link < file_.section_count() ? file_.DataOf(link)
                                                                 : base::Bytes());
    format::Sym symbol = {};
    for (std::uint64_t at = 0; bytes.Read(at, symbol); at += sizeof symbol) {
      const std::uint8_t type = symbol.info & 15U;
      const bool has_section =
          symbol.shndx < file_.section_count() && symbol.shndx < format::kShnLoReserve;
      const std::string_view section =
          has_section ? file_.NameOf(symbol.shndx) : std::string_view();
      const std::string_view name = type == format::kSttSection
                                        ? section
                                        : names.CString(symbol.name).value_or(std::string_view());
      const bool is_code =
          type == format::kSttFunc ||
          (has_section && (file_.header(symbol.shndx).flags & format::kShfExec) != 0);
      named_.push_back({name, is_code});
      symbols.push_back({.name = name,
                         .section = section,
                         .info = symbol.info,
                         .other = symbol.other,
                         .value = is_code ? 0 : symbol.value,
                         .size = is_code ? 0 : symbol.size});
    }
  }

  void AddSection(std::uint32_t index) {
    const format::Shdr& header = file_.header(index);
    const std::string_view name = file_.NameOf(index);
    if ((header.flags & format::kShfMercury) != 0) return;
    if (header.type == format::kShtRela || header.type == format::kShtRel) {
      return AddReferences(index, header.type == format::kShtRela);
    }
    if ((header.flags & format::kShfAlloc) == 0) return;
    if (BelongsToCode(name)) {
      constants[name].push_back(index);
      return;
    }
    const bool is_code = (header.flags & format::kShfExec) != 0;
    sections.push_back({name, header.type, is_code ? 0 : header.size, index});
  }

  void AddReferences(std::uint32_t list, bool has_addend) {
    const std::uint32_t target = file_.header(list).info;
    if (target >= file_.section_count() || file_.header(list).link != table_) return;
    const std::uint64_t flags = file_.header(target).flags;
    if ((flags & format::kShfAlloc) == 0) return;  // of debugging
    if (BelongsToCode(file_.NameOf(target))) return;
    const bool is_code = (flags & format::kShfExec) != 0;
    const std::uint64_t size = format::SizeOfRelocation(has_addend);
    const base::BoundedReader bytes(file_.DataOf(list));
    for (std::uint64_t at = 0; at + size <= bytes.size(); at += size) {
      const auto number = bytes.ReadOrZero<std::uint32_t>(at + 12);
      const Named symbol = number < named_.size() ? named_[number] : Named();
      references.push_back(
          {.list = file_.NameOf(list),
           .offset = is_code ? 0 : bytes.ReadOrZero<std::uint64_t>(at),
           .symbol = symbol.name,
           .type = bytes.ReadOrZero<std::uint32_t>(at + 8),
           .addend = has_addend && !symbol.is_code ? bytes.ReadOrZero<std::int64_t>(at + 16) : 0});
    }
  }

  LinkedFile file_;
  std::uint32_t table_ = 0;
  std::vector<Named> named_;  // its symbols, by number
};

// The first of two sorted lists that only one of them has.
template <typename T>
const T* FirstDifference(const std::vector<T>& a, const std::vector<T>& b) {
  const auto [at_a, at_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at_a == a.end()) return at_b == b.end() ? nullptr : &*at_b;
  return at_b == b.end() || *at_a < *at_b ? &*at_a : &*at_b;
}

std::string SectionDifference(const Meaning& finalized, const Meaning& own) {
  const auto named = [](const SectionMeaning& section) {
    return base::Cat({"the section '", section.name, "'"});
  };
  for (std::size_t i = 0; i < std::max(finalized.sections.size(), own.sections.size()); ++i) {
    if (i >= own.sections.size()) return named(finalized.sections[i]);
    if (i >= finalized.sections.size()) return named(own.sections[i]);
    const SectionMeaning& a = finalized.sections[i];
    const SectionMeaning& b = own.sections[i];
    if (a.name != b.name) return named(std::min(a, b));
    if (a.type != b.type || a.size != b.size) return named(b);
    const bool is_code = (own.file().header(b.index).flags & format::kShfExec) != 0;
    if (!is_code && !std::ranges::equal(finalized.DataOf(a), own.DataOf(b))) return named(b);
  }
  return {};
}

// Whether constants of the compiler differ in places in code only. One that is lost is 0, as are
// those of bodies that went, in our own file, too; what our own has lost the finalizer may know.
bool DifferInPlacesOnly(base::Bytes finalized, base::Bytes own) {
  const base::BoundedReader theirs(finalized);
  const base::BoundedReader ours(own);
  for (std::uint64_t at = 0; at + sizeof(std::uint32_t) <= own.size(); at += 4) {
    const auto a = theirs.ReadOrZero<std::uint32_t>(at);
    const auto b = ours.ReadOrZero<std::uint32_t>(at);
    const bool are_places = (a | b) % format::kInstructionSize == 0;
    if (a != b && (a == 0 || !are_places)) return false;
  }
  return true;
}

std::string ConstantsDifference(const Meaning& finalized, const Meaning& own) {
  for (const auto& [name, sections] : own.constants) {
    const auto theirs = finalized.constants.find(name);
    if (theirs == finalized.constants.end()) continue;
    for (std::size_t i = 0; i < std::min(sections.size(), theirs->second.size()); ++i) {
      const base::Bytes a = finalized.file().DataOf(theirs->second[i]);
      const base::Bytes b = own.file().DataOf(sections[i]);
      if (a.size() == b.size() && !DifferInPlacesOnly(a, b)) {
        return base::Cat({"the section '", name, "'"});
      }
    }
  }
  return {};
}

std::string Difference(const Meaning& finalized, const Meaning& own) {
  if (const auto* symbol = FirstDifference(finalized.symbols, own.symbols)) {
    return base::Cat({"the symbol '", symbol->name, "'"});
  }
  if (std::string section = SectionDifference(finalized, own); !section.empty()) return section;
  if (std::string section = ConstantsDifference(finalized, own); !section.empty()) return section;
  if (const auto* reference = FirstDifference(finalized.references, own.references)) {
    return base::Cat(
        {"the section '", reference->list, "' (what refers to '", reference->symbol, "')"});
  }
  return {};
}

// Functions whose code differs. Those of one name have one order in both files.
std::vector<std::string> FinalizedPieces(const Meaning& finalized, const Meaning& own) {
  std::vector<std::string> out;
  std::vector<std::pair<std::uint32_t, std::string_view>> changed;  // by place in the file
  for (std::size_t i = 0; i < own.sections.size(); ++i) {
    const SectionMeaning& section = finalized.sections[i];
    const bool is_code = (finalized.file().header(section.index).flags & format::kShfExec) != 0;
    if (is_code && !std::ranges::equal(finalized.DataOf(section), own.DataOf(own.sections[i]))) {
      changed.emplace_back(section.index, section.name);
    }
  }
  std::sort(changed.begin(), changed.end());
  out.reserve(changed.size());
  for (const auto& [index, name] : changed) out.emplace_back(FunctionOfCode(name));
  return out;
}

}  // namespace

std::string_view FunctionOfCode(std::string_view section) {
  return format::IsNameOfCode(section) ? format::FunctionInNameOfCode(section) : section;
}

absl::StatusOr<Agreement> CompareWithOwn(base::Bytes finalized, base::Bytes own) {
  DEVLINK_ASSIGN_OR_RETURN(const Meaning theirs, Meaning::Of(finalized));
  DEVLINK_ASSIGN_OR_RETURN(const Meaning ours, Meaning::Of(own));
  Agreement out{.difference = Difference(theirs, ours), .finalized = {}};
  if (out.difference.empty()) out.finalized = FinalizedPieces(theirs, ours);
  return out;
}

}  // namespace devlink::internal
