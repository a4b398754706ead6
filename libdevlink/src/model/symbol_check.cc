// SPDX-License-Identifier: Apache-2.0
#include "model/symbol_check.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "base/strings.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/sections.h"
#include "format/sm_traits.h"
#include "model/code_places.h"

namespace devlink::internal {

namespace {

constexpr std::string_view kNamedAsSection =
    "it has the name of its section and stands for something else";

// All of it found so in 650,000 symbols of sections, 406,000 of functions and 21,000 of constants
// of the compiler, of both views (docs/cubin-format.md, "Section order").

std::string_view WrongInSectionSymbol(const InputSection& section, const InputSymbol& symbol) {
  if (symbol.value != 0) return "it stands for a section and has a value";
  // Constants of the compiler go by another name in the Mercury view, and may in machine code, too.
  const bool named =
      section.role == SectionRole::kFunctionConstants || symbol.name.ends_with(section.name);
  return named ? "" : "it stands for a section and does not have its name";
}

std::string_view WrongInFunction(const ModuleView& view, std::span<const InputSection> sections,
                                 const InputSymbol& symbol) {
  if ((symbol.other & format::kStoManaged) != 0) return "a function that is managed";
  if (symbol.section == format::kShnUndef) {
    return symbol.value != 0 ? "it has a place and no definition" : "";
  }
  if (symbol.size % format::kInstructionSize != 0) return "it does not end with an instruction";
  if (symbol.size != 0 || (view.extensible() && symbol.value != 0)) return {};
  if (symbol.name == sections[symbol.section].name) return kNamedAsSection;
  const std::uint32_t body = FunctionOf(view, sections[symbol.section]);
  const bool of_kernel = (view.SymbolTraitsAt(body).other & format::kStoEntry) != 0;
  return of_kernel ? "another name of a kernel" : "";
}

// `F.const_opt.B.E`: what lies from B to E among the constants that the compiler made for F. Those
// of a body without constants, which took the place of one that had some, nvlink -r leaves with the
// constants of a third body, which may be fewer.
std::string_view WrongInOptimizerConstant(const InputSection& section, const InputSymbol& symbol,
                                          absl::FunctionRef<bool()> from_assembler) {
  constexpr std::string_view kWrong = "it does not lie where its name says";
  const std::size_t mark = symbol.name.rfind(format::kOptimizerMark);
  const std::string_view places = symbol.name.substr(mark + format::kOptimizerMark.size());
  const std::size_t dot = places.find('.');
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  if (dot == std::string_view::npos ||
      !absl::SimpleAtoi(base::ToAbsl(places.substr(0, dot)), &begin) ||
      !absl::SimpleAtoi(base::ToAbsl(places.substr(dot + 1)), &end)) {
    return kWrong;
  }
  const bool of_function = section.role == SectionRole::kFunctionConstants &&
                           section.name.ends_with(symbol.name.substr(0, mark));
  const bool fits = end <= section.size || (end <= format::kMaxConstantBank && !from_assembler());
  const bool lies_there =
      symbol.value == begin && end - begin == symbol.size && end >= begin && fits;
  const bool internal = symbol.other == (format::kStoInternal | format::kStoConstant);
  return of_function && lies_there && internal ? "" : kWrong;
}

std::string_view WrongInReservedShared(format::ViewKind view, const InputSymbol& symbol,
                                       const format::SmTraits& traits) {
  const std::uint64_t place = symbol.name == format::kReservedSharedEnd
                                  ? traits.reserved_shared
                                  : format::kReservedSharedPlace;
  const bool may_have_place = view == format::ViewKind::kSass;
  return symbol.value == 0 || (may_have_place && symbol.value == place)
             ? ""
             : "it does not have the place of its name";
}

}  // namespace

bool IsReservedSharedAlias(const ModuleView& view, std::span<const InputSection> sections,
                           const InputSymbol& symbol) {
  return view.extensible() && symbol.name == format::kReservedSharedAlias &&
         symbol.type == format::kSttNone && symbol.binding == format::kStbWeak &&
         symbol.other == format::kStoReservedShared && symbol.value <= 1 && symbol.size == 0 &&
         symbol.section < sections.size() &&
         sections[symbol.section].role == SectionRole::kReservedShared;
}

std::string_view WrongInFormOf(const ModuleView& view, std::span<const InputSection> sections,
                               const InputSymbol& symbol, const format::SmTraits& traits,
                               absl::FunctionRef<bool()> from_assembler) {
  const bool has_section = symbol.section != format::kShnUndef && symbol.section < sections.size();
  switch (symbol.type) {
    case format::kSttNone:
      // The first one stands for nothing; so do labels of debug information, but for their names.
      return symbol.name.empty() && (symbol.value != 0 || symbol.size != 0)
                 ? "it has a place or a size and no name"
                 : "";
    case format::kSttSection:
      return has_section ? WrongInSectionSymbol(sections[symbol.section], symbol) : "";
    case format::kSttFunc:
      return WrongInFunction(view, sections, symbol);
    default:
      break;
  }
  if (format::IsTextureType(symbol.type)) {
    const bool is_bare = symbol.value == 0 && symbol.size == 0;
    const bool is_lost = symbol.binding == format::kStbLocal && symbol.section == format::kShnUndef;
    return is_bare && !is_lost ? "" : "a texture reference with a place or a size, or that is lost";
  }
  if (symbol.section == format::kShnUndef) {
    return format::IsReservedSharedSymbol(symbol.name)
               ? WrongInReservedShared(view.kind(), symbol, traits)
               : "";
  }
  if (has_section && symbol.name == sections[symbol.section].name) {
    return kNamedAsSection;
  }
  const bool of_optimizer =
      has_section && symbol.name.find(format::kOptimizerMark) != std::string_view::npos;
  return of_optimizer ? WrongInOptimizerConstant(sections[symbol.section], symbol, from_assembler)
                      : "";
}

}  // namespace devlink::internal
