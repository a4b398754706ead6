// SPDX-License-Identifier: Apache-2.0
#include "model/attribute_check.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/container/inlined_vector.h"
#include "base/bounded_reader.h"
#include "format/nv_info.h"
#include "format/sections.h"
#include "model/code_places.h"

namespace devlink::internal {

namespace {

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

// Of one kernel.
struct Parameters {
  base::Bytes where;  // payload of PARAM_CBANK, empty where there is none
  std::uint32_t size = 0;
  bool have_textures = false;  // then the size is that of whole words
  absl::InlinedVector<format::KernelParameter, 16> each;
};

// Which attributes one function can have several of: one for each parameter, and one for each
// texture or surface that it reads without a bank of handles.
bool CanRepeat(std::uint8_t id) {
  return id == format::kAttrKparamInfo || id == format::kAttrKparamInfoV2 ||
         id == format::kAttrBindlessTextureBank || id == format::kAttrBindlessSurfaceBank;
}

class AttributeCheck {
 public:
  AttributeCheck(const ModuleView& view, std::span<const InputSection> sections,
                 std::uint32_t index, Forms forms)
      : view_(view), sections_(sections), index_(index), forms_(forms) {}

  WrongSection Wrong() {
    const InputSection& section = sections_[index_];
    format::InfoReader records(section.data);
    format::InfoRecord record;
    while (records.Next(record)) {
      if (const std::string_view wrong = WrongIn(record); !wrong.empty()) return {index_, wrong};
      if (section.role == SectionRole::kFunctionInfo) Take(record);
    }
    if (!records.well_formed()) return {index_, "an attribute is cut off or unknown"};
    const bool of_function = section.role == SectionRole::kFunctionInfo;
    if (of_function && forms_ == Forms::kKnown) {
      if (const std::string_view wrong = WrongInKinds(); !wrong.empty()) return {index_, wrong};
    }
    const std::uint64_t end = EndOfParameters();
    if (end == kNowhere) return {index_, "its parameters are not numbered, or lie in one place"};
    if (!parameters_.where.empty()) return WrongInParameters(end);
    const bool is_lost = end != 0 && view_.kind() == format::ViewKind::kSass;
    return {index_, is_lost ? "it does not say where parameters lie" : ""};
  }

 private:
  [[nodiscard]] std::string_view WrongIn(const format::InfoRecord& record) const {
    if (!format::HasFormOfKind(record)) return "an attribute does not have the form of its kind";
    if (!EndsInCode(record)) return "an attribute names a place behind its function's code";
    const format::InfoSymbolRun named = format::SymbolsOf(record);
    const base::BoundedReader payload(record.payload);
    for (std::uint64_t i = 0; i < named.count; ++i) {
      if (payload.ReadOrZero<std::uint32_t>(i * 4) >= view_.symbol_count()) {
        return "an attribute names a symbol that does not exist";
      }
    }
    return {};
  }

  // Where the record names places in code, the last one lies there.
  [[nodiscard]] bool EndsInCode(const format::InfoRecord& record) const {
    if (record.id == format::kAttrIndirectBranchTargets) return BranchesInCode(record);
    if (format::FindInfoAttribute(record.id).payload != format::kInfoPlaces ||
        record.payload.empty() || sections_[index_].role != SectionRole::kFunctionInfo) {
      return true;
    }
    constexpr std::uint64_t kWord = 4;
    const base::BoundedReader places(record.payload);
    return places.ReadOrZero<std::uint32_t>(places.size() - kWord) <
           EndOfPlaces(view_, sections_[sections_[index_].info]);
  }

  [[nodiscard]] bool BranchesInCode(const format::InfoRecord& record) const {
    if (sections_[index_].role != SectionRole::kFunctionInfo) return false;
    const std::uint64_t end = EndOfPlaces(view_, sections_[sections_[index_].info]);
    const base::BoundedReader words(record.payload);
    const auto is_place = [&](std::uint64_t at) {
      const auto place = words.ReadOrZero<std::uint32_t>(at);
      return place % format::kInstructionSize == 0 && place < end;
    };
    // Their form has been looked at: a place, 0, a number, and as many places.
    for (std::uint64_t at = 0; at < words.size();) {
      if (!is_place(at)) return false;
      const auto targets = words.ReadOrZero<std::uint32_t>(at + 8);
      at += 12;
      for (std::uint32_t i = 0; i < targets; ++i, at += 4) {
        if (!is_place(at)) return false;
      }
    }
    return true;
  }

  void Take(const format::InfoRecord& record) {
    const std::uint64_t bit = std::uint64_t{1} << (record.id % 64);
    std::uint64_t& kinds = kinds_[record.id / 64];
    if ((kinds & bit) != 0 && !CanRepeat(record.id)) repeats_ = true;
    kinds |= bit;
    switch (record.id) {
      case format::kAttrCbankParamSize:
        parameters_.size = record.value;
        break;
      case format::kAttrKparamInfo:
      case format::kAttrKparamInfoV2:
        parameters_.each.push_back(format::ParameterOf(record));
        break;
      case format::kAttrParamCbank:
        parameters_.where = record.payload;
        break;
      default:
        break;
    }
  }

  [[nodiscard]] bool Has(std::uint8_t id) const { return (kinds_[id / 64] >> (id % 64) & 1) != 0; }

  // Found so in the attributes of 360,000 functions, of both views (docs/cubin-format.md, "Section
  // order").
  [[nodiscard]] std::string_view WrongInKinds() const {
    const std::uint32_t function = FunctionOf(view_, sections_[sections_[index_].info]);
    const bool is_kernel = (view_.SymbolTraitsAt(function).other & format::kStoEntry) != 0;
    if (repeats_) return "an attribute stands there twice";
    if (Has(format::kAttrMaxRegCount) != is_kernel) {
      return is_kernel ? "it lacks what each kernel has" : "it has what only a kernel has";
    }
    // Mercury code is told where its parameters lie by that for which it stands.
    const bool places = view_.kind() == format::ViewKind::kSass;
    const bool takes = !parameters_.each.empty();
    if (takes && !is_kernel) return "it has parameters and is not of a kernel";
    if (Has(format::kAttrParamCbank) != (takes && places) ||
        Has(format::kAttrCbankParamSize) != (takes && places)) {
      return "it does not say what its parameters are and where";
    }
    if (!places && !Has(format::kAttrFinalizerOptions)) {
      return "it does not say how it is to be finalized";
    }
    return {};
  }

  // Where the last one ends; kNowhere where they are not numbered from 0 on, or two have bytes in
  // common. Beside textures ptxas does not place them by number.
  std::uint64_t EndOfParameters() {
    auto& each = parameters_.each;
    std::ranges::sort(each, {}, &format::KernelParameter::ordinal);
    for (std::size_t i = 0; i < each.size(); ++i) {
      if (each[i].ordinal != i) return kNowhere;
    }
    std::ranges::stable_sort(each, {}, &format::KernelParameter::offset);
    std::uint64_t end = 0;
    for (const format::KernelParameter& parameter : each) {
      if (parameter.IsTexture()) {
        parameters_.have_textures = true;
        continue;
      }
      // A number with the name of a texture that a later kernel takes: ptxas gives it no place.
      if (parameter.size == 0) continue;
      if (parameter.symbol != 0 || parameter.offset < end) return kNowhere;
      end = std::uint64_t{parameter.offset} + parameter.size;
    }
    return end;
  }

  // They end with their section.
  [[nodiscard]] WrongSection WrongInParameters(std::uint64_t end) const {
    const base::BoundedReader where(parameters_.where);
    const auto begin = where.ReadOrZero<std::uint16_t>(4);
    const auto size = where.ReadOrZero<std::uint16_t>(6);
    if (parameters_.size != size || end > size ||
        (end < size && forms_ == Forms::kKnown && !parameters_.have_textures)) {
      return {index_, "its parameters have two sizes"};
    }
    const std::uint32_t bank = view_.SymbolSectionAt(where.ReadOrZero<std::uint32_t>(0));
    if (bank >= sections_.size() || !sections_[bank].IsParameterBank() ||
        sections_[bank].info != sections_[index_].info) {
      return {index_, "its parameters are not those of its function"};
    }
    const bool fits = sections_[bank].size == std::uint64_t{begin} + size;
    return {bank, fits ? "" : "it is not as large as its kernel's parameters"};
  }

  const ModuleView& view_;
  std::span<const InputSection> sections_;
  std::uint32_t index_;
  Forms forms_;
  Parameters parameters_;
  std::array<std::uint64_t, 4> kinds_ = {};  // a bit for each id that was there
  bool repeats_ = false;
};

}  // namespace

WrongSection WrongInAttributes(const ModuleView& view, std::span<const InputSection> sections,
                               std::uint32_t index, Forms forms) {
  return AttributeCheck(view, sections, index, forms).Wrong();
}

}  // namespace devlink::internal
