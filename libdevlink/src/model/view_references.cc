// SPDX-License-Identifier: Apache-2.0
#include "model/view_references.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "format/sections.h"

namespace devlink::internal {

namespace {

// Of code only where it is and what it refers to.
struct ViewReference {
  std::uint32_t place = 0;  // the first symbol of the section that has the field
  std::uint32_t symbol = 0;
  std::uint64_t offset = 0;
  std::int64_t addend = 0;
  std::uint32_t section = 0;  // that has the field, by number
  friend auto operator<=>(const ViewReference& a, const ViewReference& b) {
    if (const auto by_place = a.place <=> b.place; by_place != 0) return by_place;
    if (const auto by_symbol = a.symbol <=> b.symbol; by_symbol != 0) return by_symbol;
    if (const auto by_offset = a.offset <=> b.offset; by_offset != 0) return by_offset;
    return a.addend <=> b.addend;
  }
  friend bool operator==(const ViewReference& a, const ViewReference& b) { return (a <=> b) == 0; }
};

class References {
 public:
  explicit References(const ModuleView& view) : view_(view), sections_(view.sections()) {
    first_symbol_.resize(sections_.size());
    for (std::uint32_t i = view.symbol_count(); i-- > 1;) {
      const std::uint32_t section = view.SymbolSectionAt(i);
      if (section < sections_.size()) first_symbol_[section] = i;
    }
    for (const InputSection& section : sections_) {
      if (section.role == SectionRole::kRelocations) Add(section);
    }
    std::sort(out_.begin(), out_.end());
  }

  [[nodiscard]] const std::vector<ViewReference>& all() const { return out_; }
  [[nodiscard]] std::string_view NameOf(const ViewReference& reference) const {
    return sections_[reference.section].name;
  }

 private:
  void Add(const InputSection& list) {
    if (list.info >= sections_.size()) return;
    const SectionRole role = sections_[list.info].role;
    const bool is_code = role == SectionRole::kText;
    if (!is_code && role != SectionRole::kGlobalInit && role != SectionRole::kConstantBank) return;
    const bool has_addend = list.type == format::kShtRela;
    const std::uint64_t step = has_addend ? sizeof(format::Rela) : format::kRelSize;
    const base::BoundedReader entries(list.data);
    for (std::uint64_t at = 0; at + step <= list.data.size(); at += step) {
      ViewReference reference{
          .place = first_symbol_[list.info],
          .symbol = entries.ReadOrZero<std::uint32_t>(at + offsetof(format::Rela, symbol)),
          .section = list.info};
      if (is_code) {
        if (format::IsReservedSharedSymbol(view_.SymbolAt(reference.symbol).name)) continue;
      } else {
        reference.offset = entries.ReadOrZero<std::uint64_t>(at);
        if (has_addend) {
          reference.addend = entries.ReadOrZero<std::int64_t>(at + offsetof(format::Rela, addend));
        }
      }
      out_.push_back(reference);
    }
  }

  const ModuleView& view_;
  std::vector<InputSection> sections_;
  std::vector<std::uint32_t> first_symbol_;  // by section
  std::vector<ViewReference> out_;
};

}  // namespace

absl::Status CheckReferencesAgree(const ModuleView& sass, const ModuleView& mercury) {
  const References ours(sass);
  const References others(mercury);
  const auto [a, b] = std::ranges::mismatch(ours.all(), others.all());
  const bool is_end = a == ours.all().end();
  if (is_end && b == others.all().end()) return absl::OkStatus();
  const bool is_of_first = !is_end && (b == others.all().end() || *a < *b);
  const std::string_view section = is_of_first ? ours.NameOf(*a) : others.NameOf(*b);
  return absl::InvalidArgumentError(base::ToAbsl(
      base::Cat({"section '", section, "': its two views do not refer to the same symbols"})));
}

}  // namespace devlink::internal
