// SPDX-License-Identifier: Apache-2.0
#include "model/relocation_check.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/bounded_reader.h"
#include "base/strings.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "model/code_places.h"

namespace devlink::internal {

namespace {

struct Field {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
bool LiesBefore(const Field& a, const Field& b) { return a.end <= b.begin; }

class RelocationCheck {
 public:
  RelocationCheck(const ModuleView& view, std::span<const InputSection> sections,
                  const InputSection& list, Forms forms)
      : view_(view),
        sections_(sections),
        list_(list),
        forms_(forms),
        target_(sections[list.info]),
        mercury_(view.kind() == format::ViewKind::kMercury),
        // Lists of places in `.debug_loc` name labels that ptxas left without a place, and PTX may
        // have labels in any debug section.
        of_debug_(target_.role == SectionRole::kDebug),
        place_(of_debug_                            ? format::FieldPlace::kDebug
               : target_.role == SectionRole::kText ? format::FieldPlace::kCode
                                                    : format::FieldPlace::kData),
        end_(target_.role == SectionRole::kText ? EndOfPlaces(view, target_)
                                                : target_.data.size()) {}

  [[nodiscard]] std::string WrongInList(absl::FunctionRef<bool()> code_may_lack_any) const {
    const bool with_addends = list_.type == format::kShtRela;
    const std::string_view prefix =
        with_addends ? format::section_name::kRela : format::section_name::kRel;
    if (!list_.name.starts_with(prefix) || list_.name.substr(prefix.size()) != target_.name) {
      return "its name is not that of the section it relocates";
    }
    const std::uint64_t step = format::SizeOfRelocation(with_addends);
    if (list_.entry_size != step || list_.size % step != 0) {
      return "its size is not a multiple of a relocation's";
    }
    if (list_.size == 0) {
      // nvlink -r empties lists of constants.
      const bool may_be_empty = target_.role != SectionRole::kText || code_may_lack_any();
      return may_be_empty ? "" : "a list of relocations without any";
    }
    const base::BoundedReader entries(list_.data);
    Field before;
    bool ascend = true;
    bool descend = true;
    for (std::uint64_t at = 0; at < list_.size; at += step) {
      const auto entry = entries.ReadOrZero<format::Rel>(at);
      const format::RelocationInfo* const info = format::FindRelocation(entry.type);
      std::string wrong = WrongIn(entry, info);
      if (!wrong.empty()) return absl::StrCat(wrong, Which(entry));
      if (forms_ == Forms::kAny) continue;
      const Field field = FieldOf(entry.offset, *info);
      if (at != 0) {
        ascend = ascend && LiesBefore(before, field);
        descend = descend && LiesBefore(field, before);
      }
      before = field;
    }
    // nvlink -r leaves those of a body that it replaced among what a compiler made constants of.
    if (forms_ == Forms::kAny || target_.role == SectionRole::kFunctionConstants) return {};
    // Lists stand mostly in order, from the first place or from the last.
    return ascend || descend || HaveFieldsOfTheirOwn(entries, step)
               ? ""
               : "two relocations are of one field";
  }

 private:
  // Of what the relocation is of. Of debug information that is no more than its place: there some
  // types only clear a field that others fill.
  [[nodiscard]] Field FieldOf(std::uint64_t offset, const format::RelocationInfo& info) const {
    std::uint64_t bytes = 1;
    if (place_ == format::FieldPlace::kData) {
      bytes = format::BytesOfField(info);
    } else if (place_ == format::FieldPlace::kCode && !mercury_) {
      bytes = format::kInstructionSize;
    }
    return {offset, offset + bytes};
  }

  [[nodiscard]] bool HaveFieldsOfTheirOwn(const base::BoundedReader& entries,
                                          std::uint64_t step) const {
    std::vector<Field> fields;
    for (std::uint64_t at = 0; at < list_.size; at += step) {
      const auto entry = entries.ReadOrZero<format::Rel>(at);
      fields.push_back(FieldOf(entry.offset, *format::FindRelocation(entry.type)));
    }
    std::ranges::sort(fields, {}, &Field::begin);
    const auto overlap = [](const Field& a, const Field& b) { return !LiesBefore(a, b); };
    return std::ranges::adjacent_find(fields, overlap) == fields.end();
  }

  // A section as a whole may be named, but only one that has a place in the output.
  [[nodiscard]] bool IsContent(std::uint32_t section) const {
    return section < sections_.size() && format::IsContent(sections_[section].role);
  }

  [[nodiscard]] std::string Which(const format::Rel& relocation) const {
    std::string out = absl::StrCat(", at 0x", absl::Hex(relocation.offset));
    if (relocation.symbol == 0 || relocation.symbol >= view_.symbol_count()) return out;
    const std::string_view name = view_.SymbolAt(relocation.symbol).name;
    if (!name.empty()) out += base::Cat({", to '", name, "'"});
    return out;
  }

  // `info` is the row of its type, null where there is none.
  [[nodiscard]] std::string WrongIn(const format::Rel& relocation,
                                    const format::RelocationInfo* info) const {
    const auto [offset, type, symbol] = relocation;
    if (symbol >= view_.symbol_count()) return "a relocation names a symbol that does not exist";
    const std::uint8_t symbol_type = view_.SymbolTypeAt(symbol);
    if (symbol != 0 && !of_debug_ && !format::IsKnownSymbolType(symbol_type)) {
      return "a relocation names a symbol that stands for nothing";
    }
    if (symbol_type == format::kSttSection && !IsContent(view_.SymbolSectionAt(symbol))) {
      return "a relocation names a section that is neither code nor data";
    }
    if (info == nullptr || format::IsMercuryRelocation(type) != mercury_) {
      return absl::StrCat("a relocation of unknown type ", type);
    }
    if (forms_ == Forms::kKnown && !format::CanBeIn(type, place_) && !IsReturnAddress(type)) {
      return absl::StrCat("a relocation of type ", type, ", which its section cannot have");
    }
    // No compiler writes one that stands for nothing: it was another. Nor one that only clears its
    // field, but for records about code.
    if (format::AsksForNothing(*info) && !of_debug_) return "a relocation that asks for nothing";
    if (symbol == 0 && info->action != format::RelocationAction::kDropUnlessFunction && !mercury_) {
      return "a relocation names no symbol";
    }
    if (offset > end_ || end_ - offset < format::BytesOfField(*info)) {
      return "a relocation reaches beyond the section it relocates";
    }
    if (forms_ != Forms::kKnown || place_ != format::FieldPlace::kCode) return "";
    if (!IsInInstruction(offset)) return "a relocation that is not of an instruction";
    const bool fits =
        mercury_ || format::CanBeOfInstruction(
                        type, base::BoundedReader(target_.data).ReadOrZero<std::uint32_t>(offset));
    return fits
               ? ""
               : absl::StrCat("a relocation of type ", type, ", which its instruction cannot have");
  }

  // Calls within the code of an extensible program, which know it, are told where they return to.
  [[nodiscard]] bool IsReturnAddress(std::uint32_t type) const {
    return view_.extensible() && type == format::kRelocMercuryProgram32 &&
           place_ == format::FieldPlace::kCode;
  }

  // Of machine code a relocation names the instruction, of Mercury code a word of its second half.
  [[nodiscard]] bool IsInInstruction(std::uint64_t offset) const {
    const std::uint64_t within = offset % format::kInstructionSize;
    return mercury_ ? within == 8 || within == 12 : within == 0;
  }

  const ModuleView& view_;
  std::span<const InputSection> sections_;
  const InputSection& list_;
  Forms forms_;
  const InputSection& target_;
  bool mercury_;
  bool of_debug_;
  format::FieldPlace place_;
  std::uint64_t end_;  // from which on a field would reach too far
};

}  // namespace

std::string WrongInRelocations(const ModuleView& view, std::span<const InputSection> sections,
                               std::uint32_t index, Forms forms,
                               absl::FunctionRef<bool()> code_may_lack_any) {
  const InputSection& list = sections[index];
  if (list.info >= sections.size() || sections[list.info].role == SectionRole::kOtherView) {
    return "it relocates no section";
  }
  return RelocationCheck(view, sections, list, forms).WrongInList(code_may_lack_any);
}

}  // namespace devlink::internal
