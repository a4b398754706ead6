// SPDX-License-Identifier: Apache-2.0
#include "model/relocation_check.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/bounded_reader.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "model/code_places.h"

namespace devlink::internal {

namespace {

class RelocationCheck {
 public:
  RelocationCheck(const ModuleView& view, std::span<const InputSection> sections,
                  const InputSection& list, RelocationForms forms)
      : view_(view),
        sections_(sections),
        list_(list),
        forms_(forms),
        target_(sections[list.info]),
        mercury_(view.kind() == format::ViewKind::kMercury),
        // Lists of places in `.debug_loc` name labels that ptxas left without a place.
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
    for (std::uint64_t at = 0; at < list_.size; at += step) {
      std::string wrong = WrongIn(entries.ReadOrZero<format::Rel>(at));
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

 private:
  // A section as a whole may be named, but only one that has a place in the output.
  [[nodiscard]] bool IsContent(std::uint32_t section) const {
    return section < sections_.size() && format::IsContent(sections_[section].role);
  }

  [[nodiscard]] std::string WrongIn(const format::Rel& relocation) const {
    const auto [offset, type, symbol] = relocation;
    if (symbol >= view_.symbol_count()) return "a relocation names a symbol that does not exist";
    const std::uint8_t symbol_type = view_.SymbolTypeAt(symbol);
    if (symbol != 0 && !of_debug_ && !format::IsKnownSymbolType(symbol_type)) {
      return "a relocation names a symbol that stands for nothing";
    }
    if (symbol_type == format::kSttSection && !IsContent(view_.SymbolSectionAt(symbol))) {
      return "a relocation names a section that is neither code nor data";
    }
    const format::RelocationInfo* const info = format::FindRelocation(type);
    if (info == nullptr || format::IsMercuryRelocation(type) != mercury_) {
      return absl::StrCat("a relocation of unknown type ", type);
    }
    if (forms_ == RelocationForms::kKnown && !format::CanBeIn(type, place_)) {
      return absl::StrCat("a relocation of type ", type, ", which its section cannot have");
    }
    // No compiler writes one that stands for nothing: it was another. Nor one that only clears its
    // field, but for records about code.
    if (format::AsksForNothing(*info) && !of_debug_) return "a relocation that asks for nothing";
    if (symbol == 0 && info->action != format::RelocationAction::kDropUnlessFunction && !mercury_) {
      return "a relocation names no symbol";
    }
    // Of some types the field is no more than a place, which has to be there, too.
    const std::uint64_t bytes = std::max<std::uint64_t>(info->bytes, 1);
    if (offset > end_ || end_ - offset < bytes) {
      return "a relocation reaches beyond the section it relocates";
    }
    const bool is_odd = forms_ == RelocationForms::kKnown && place_ == format::FieldPlace::kCode &&
                        !IsInInstruction(offset);
    return is_odd ? "a relocation that is not of an instruction" : "";
  }

  // Of machine code a relocation names the instruction, of Mercury code a word of its second half.
  [[nodiscard]] bool IsInInstruction(std::uint64_t offset) const {
    const std::uint64_t within = offset % format::kInstructionSize;
    return mercury_ ? within == 8 || within == 12 : within == 0;
  }

  const ModuleView& view_;
  std::span<const InputSection> sections_;
  const InputSection& list_;
  RelocationForms forms_;
  const InputSection& target_;
  bool mercury_;
  bool of_debug_;
  format::FieldPlace place_;
  std::uint64_t end_;  // from which on a field would reach too far
};

}  // namespace

std::string WrongInRelocations(const ModuleView& view, std::span<const InputSection> sections,
                               std::uint32_t index, RelocationForms forms,
                               absl::FunctionRef<bool()> code_may_lack_any) {
  const InputSection& list = sections[index];
  if (list.info >= sections.size() || sections[list.info].role == SectionRole::kOtherView) {
    return "it relocates no section";
  }
  return RelocationCheck(view, sections, list, forms).WrongInList(code_may_lack_any);
}

}  // namespace devlink::internal
