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

// The types that stand for one another in code, found in 2,400 cubins (docs/mercury.md). Some
// stand for one only where code refers to itself.
enum class Whose : std::uint8_t { kAny, kOwn, kOther };
struct TypePair {
  std::uint32_t sass = 0;
  std::uint32_t mercury = 0;
  Whose whose = Whose::kAny;
};
constexpr TypePair kTypePairs[] = {
    {0x37, 0x10003},                 // ABS32_32
    {0x73, 0x10003},                 // CONST_FIELD22_37
    {0x3b, 0x10004},                 // ABS16_32
    {0x42, 0x10004},                 // CONST_FIELD21_38
    {0x4b, 0x10002},                 // ABS55_16_34
    {0x72, 0x10002},                 // ABS56_16_34
    {0x38, 0x10005, Whose::kOther},  // ABS32_LO_32
    {0x38, 0x10028, Whose::kOwn},
    {0x39, 0x10006, Whose::kOther},  // ABS32_HI_32
    {0x39, 0x10029, Whose::kOwn},
    {0x3e, 0x10005},  // FUNC_DESC32_LO_32
    {0x3e, 0x1003e},
    {0x3f, 0x10006},  // FUNC_DESC32_HI_32
    {0x3f, 0x1003f},
    {0x70, 0x1003e},  // UNIFIED32_LO_32
    {0x71, 0x1003f},  // UNIFIED32_HI_32
};

// Of types that no row has nothing is known.
bool StandForOneAnother(std::uint32_t sass, std::uint32_t mercury, bool own) {
  bool known = false;
  for (const TypePair& pair : kTypePairs) {
    if (pair.sass == sass && pair.mercury == mercury &&
        (pair.whose == Whose::kAny || (pair.whose == Whose::kOwn) == own)) {
      return true;
    }
    known = known || pair.sass == sass || pair.mercury == mercury;
  }
  return !known;
}

// In data the types have one name, but that Mercury says ABS64 for what has no other name than 64.
bool IsSameInData(std::uint32_t sass, std::uint32_t mercury) {
  const format::RelocationInfo* const ours = format::FindRelocation(sass);
  const format::RelocationInfo* const others = format::FindRelocation(mercury);
  if (ours == nullptr || others == nullptr) return false;
  const std::string_view name = others->name;
  return name == ours->name || (name.starts_with("ABS") && name.substr(3) == ours->name);
}

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
  // A capsule begins with the number of its machine code.
  [[nodiscard]] std::uint64_t PlaceOf(std::uint32_t index) const {
    if (sections_[index].role != SectionRole::kText) return kData | first_symbol_[index];
    if (view_.kind() == format::ViewKind::kSass) return index;
    return base::BoundedReader(sections_[index].data).ReadOrZero<std::uint32_t>(0);
  }

  void Add(const InputSection& list) {
    if (list.info >= sections_.size()) return;
    const SectionRole role = sections_[list.info].role;
    const bool is_code = role == SectionRole::kText;
    if (!is_code && role != SectionRole::kGlobalInit && role != SectionRole::kConstantBank) return;
    const bool has_addend = list.type == format::kShtRela;
    const std::uint64_t step = has_addend ? sizeof(format::Rela) : format::kRelSize;
    const base::BoundedReader entries(list.data);
    const std::uint64_t place = PlaceOf(list.info);
    for (std::uint64_t at = 0; at + step <= list.data.size(); at += step) {
      ViewReference reference{
          .place = place,
          .offset = entries.ReadOrZero<std::uint64_t>(at),
          .symbol = entries.ReadOrZero<std::uint32_t>(at + offsetof(format::Rela, symbol)),
          .type = entries.ReadOrZero<std::uint32_t>(at + offsetof(format::Rela, type)),
          .section = list.info};
      if (is_code && format::IsReservedSharedSymbol(view_.SymbolAt(reference.symbol).name))
        continue;
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
             IsSameInData(sass.type, mercury.type);
    }
    if (sass.offset % format::kInstructionSize != 0) return false;
    const bool own = sass_.IsToItself(sass);
    if (!StandForOneAnother(sass.type, mercury.type, own)) return false;
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
