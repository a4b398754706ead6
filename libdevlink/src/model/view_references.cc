// SPDX-License-Identifier: Apache-2.0
#include "model/view_references.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/bounded_reader.h"
#include "base/strings.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "model/code_places.h"

namespace devlink::internal {

namespace {

struct ViewReference {
  // What has the field, told alike in both views: code by the number of the machine code's section,
  // data by that of its first symbol. See References::PlaceOf().
  std::uint64_t place = 0;
  std::uint64_t offset = 0;
  std::uint32_t symbol = 0;
  std::uint32_t type = 0;
  std::int64_t addend = 0;
  std::uint32_t section = 0;  // that has the field, by number
};

bool StandsBefore(const ViewReference& a, const ViewReference& b) {
  return std::tie(a.place, a.offset, a.symbol, a.type, a.addend) <
         std::tie(b.place, b.offset, b.symbol, b.type, b.addend);
}

constexpr std::uint64_t kData = std::uint64_t{1} << 32;  // in ViewReference::place

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
    std::sort(out_.begin(), out_.end(), StandsBefore);
  }

  [[nodiscard]] const std::vector<ViewReference>& all() const { return out_; }
  [[nodiscard]] std::string_view NameOf(const ViewReference& reference) const {
    return sections_[reference.section].name;
  }
  // Whether code refers to itself.
  [[nodiscard]] bool IsToItself(const ViewReference& reference) const {
    return view_.SymbolSectionAt(reference.symbol) == reference.section;
  }

 private:
  [[nodiscard]] std::uint64_t PlaceOf(std::uint32_t index) const {
    if (sections_[index].role != SectionRole::kText) return kData | first_symbol_[index];
    const bool is_capsule = view_.kind() == format::ViewKind::kMercury;
    return is_capsule ? format::MachineCodeOf(sections_[index].data) : index;
  }

  // Of an extensible program machine code knows where calls within it return to, and data where a
  // part of it lies (CheckRecordsAgree).
  [[nodiscard]] bool IsOfExtensible(const ViewReference& reference, bool is_code) const {
    if (!view_.extensible()) return false;
    return is_code ? reference.type == format::kRelocMercuryProgram32 && IsToItself(reference)
                   : reference.type == format::kRelocMercuryProgram64;
  }

  void Add(const InputSection& list) {
    if (list.info >= sections_.size()) return;
    const SectionRole role = sections_[list.info].role;
    const bool is_code = role == SectionRole::kText;
    if (!is_code && role != SectionRole::kGlobalInit && role != SectionRole::kConstantBank) return;
    const bool has_addend = list.type == format::kShtRela;
    const std::uint64_t step = format::SizeOfRelocation(has_addend);
    const base::BoundedReader entries(list.data);
    const std::uint64_t place = PlaceOf(list.info);
    for (std::uint64_t at = 0; at + step <= list.data.size(); at += step) {
      ViewReference reference{
          .place = place,
          .offset = entries.ReadOrZero<std::uint64_t>(at),
          .symbol = entries.ReadOrZero<std::uint32_t>(at + offsetof(format::Rela, symbol)),
          .type = entries.ReadOrZero<std::uint32_t>(at + offsetof(format::Rela, type)),
          .section = list.info};
      if (is_code && format::IsReservedSharedSymbol(view_.SymbolAt(reference.symbol).name)) {
        continue;
      }
      if (IsOfExtensible(reference, is_code)) continue;
      if (has_addend) {
        reference.addend = entries.ReadOrZero<std::int64_t>(at + offsetof(format::Rela, addend));
      }
      out_.push_back(reference);
    }
  }

  const ModuleView& view_;
  std::vector<InputSection> sections_;
  std::vector<std::uint32_t> first_symbol_;  // by section
  std::vector<ViewReference> out_;
};

// Walks both lists at once.
class Comparison {
 public:
  Comparison(const References& sass, const References& mercury) : sass_(sass), mercury_(mercury) {}

  // The section where the views do not agree; empty where there is none.
  std::string_view Differing() {
    const std::vector<ViewReference>& ours = sass_.all();
    const std::vector<ViewReference>& others = mercury_.all();
    for (std::size_t i = 0; i < ours.size() || i < others.size(); ++i) {
      if (i == ours.size()) return mercury_.NameOf(others[i]);
      if (i == others.size() || ours[i].place < others[i].place) return sass_.NameOf(ours[i]);
      if (others[i].place < ours[i].place) return mercury_.NameOf(others[i]);
      if (i > 0 && ours[i - 1].place != ours[i].place && !own_.TakeInOneOrder()) {
        return sass_.NameOf(ours[i - 1]);
      }
      if (!IsSame(ours[i], others[i])) return sass_.NameOf(ours[i]);
    }
    return own_.TakeInOneOrder() ? "" : sass_.NameOf(ours.back());
  }

 private:
  bool IsSame(const ViewReference& sass, const ViewReference& mercury) {
    if (sass.symbol != mercury.symbol) return false;
    const bool is_data = (sass.place & kData) != 0;
    if (is_data) {
      return sass.offset == mercury.offset && sass.addend == mercury.addend &&
             format::AreCounterpartsInData(sass.type, mercury.type);
    }
    if (sass.offset % format::kInstructionSize != 0) return false;
    const bool own = sass_.IsToItself(sass);
    if (!format::AreCounterpartsInCode(sass.type, mercury.type, own)) return false;
    if (!own) return sass.addend == mercury.addend;
    own_.Add(sass.addend, mercury.addend);
    return true;
  }

  const References& sass_;
  const References& mercury_;
  CodePlaces own_;  // to which one function's code refers in itself
};

}  // namespace

absl::Status CheckReferencesAgree(const ModuleView& sass, const ModuleView& mercury) {
  const References ours(sass);
  const References others(mercury);
  const std::string_view section = Comparison(ours, others).Differing();
  if (section.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      base::ToAbsl(base::Cat({"section '", section, "': its two views do not refer to the same"})));
}

}  // namespace devlink::internal
