// SPDX-License-Identifier: Apache-2.0
#include "model/call_graph_check.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/bounded_reader.h"
#include "base/strings.h"
#include "format/call_graph_records.h"
#include "format/elf_cuda.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "model/code_places.h"

namespace devlink::internal {

namespace {

using format::CallGraphList;

// Functions by their symbols, or a function and the offset of its prototype.
struct Pair {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  friend auto operator<=>(const Pair&, const Pair&) = default;
};

// One that a list names, by their bodies, and as it stands there.
struct Named {
  Pair bodies;
  CallGraphList list = CallGraphList::kNone;
  Pair symbols;
  friend auto operator<=>(const Named&, const Named&) = default;
};

template <typename T>
using Few = absl::InlinedVector<T, 16>;

class CallGraphCheck {
 public:
  CallGraphCheck(const ModuleView& view, std::span<const InputSection> sections,
                 absl::FunctionRef<bool()> from_assembler, std::uint16_t toolkit)
      : view_(view),
        sections_(sections),
        from_assembler_(from_assembler),
        names_addresses_(toolkit >= format::kAddressesNamedSince) {}

  std::string Wrong() {
    const InputSection* const graph = Find(SectionRole::kCallGraph);
    if (graph == nullptr) return {};
    if (!ReadLists(graph->data)) {
      return "its lists do not stand in order, or name something twice or what is no function";
    }
    if (!ReadPointerTable()) return "a pointer is not to the function it is named after";
    if (const auto function = NotNamed()) {
      return base::Cat({"it does not name ", NameOf(*function), ", to which code or data refers"});
    }
    if (const auto function = TakenWithoutPrototype(); function && from_assembler_()) {
      return base::Cat({NameOf(*function), ", whose address is taken, has no prototype"});
    }
    if (const auto function = WithoutOnePrototype(); function && from_assembler_()) {
      return base::Cat({NameOf(*function), " has no prototype, or two"});
    }
    return {};
  }

 private:
  [[nodiscard]] const InputSection* Find(SectionRole role) const {
    const auto found =
        std::ranges::find_if(sections_, [&](const InputSection& s) { return s.role == role; });
    return found == sections_.end() ? nullptr : &*found;
  }

  // A damaged file may name a symbol that does not exist.
  [[nodiscard]] std::string NameOf(std::uint32_t symbol) const {
    const std::string_view name =
        symbol < view_.symbol_count() ? view_.SymbolAt(symbol).name : std::string_view();
    return name.empty() ? "a function" : base::Cat({"'", name, "'"});
  }

  // The function whose code a symbol stands for: of an alias the one that it is another name of.
  [[nodiscard]] std::uint32_t BodyOf(std::uint32_t symbol) const {
    const std::uint32_t section = view_.SymbolSectionAt(symbol);
    if (section >= sections_.size() || sections_[section].role != SectionRole::kText) return symbol;
    return format::FunctionOfCode(sections_[section].info);
  }

  // False where a list is missing or stands elsewhere, or has anything but functions. The last one
  // is not in files of CUDA 11.
  bool ReadLists(base::Bytes bytes) {
    format::CallGraphReader pairs(bytes);
    format::CallGraphPair pair;
    while (pairs.Next(pair)) {
      if (view_.SymbolTypeAt(pair.first) != format::kSttFunc) return false;
      switch (pair.list) {
        case CallGraphList::kCalls:
          named_.push_back(
              {{BodyOf(pair.first), BodyOf(pair.second)}, pair.list, {pair.first, pair.second}});
          break;
        case CallGraphList::kAddressesTaken:
          taken_.push_back({pair.first, pair.second});
          break;
        case CallGraphList::kAddressTakers:
          named_.push_back(
              {{BodyOf(pair.first), BodyOf(pair.second)}, pair.list, {pair.first, pair.second}});
          address_of_.push_back(pair.second);
          break;
        default:
          break;
      }
    }
    has_takers_ = pairs.list() == CallGraphList::kAddressTakers;
    std::ranges::sort(named_);
    std::ranges::sort(taken_);
    // Only of those that call through pointers one may stand there often.
    if (std::ranges::adjacent_find(named_) != named_.end() ||
        std::ranges::adjacent_find(taken_) != taken_.end()) {
      return false;
    }
    return pairs.in_order() && (has_takers_ || pairs.list() == CallGraphList::kIndirectCallers);
  }

  [[nodiscard]] bool IsNamed(const Pair& bodies) const {
    return std::ranges::binary_search(named_, bodies, {}, &Named::bodies);
  }
  [[nodiscard]] bool IsTaken(std::uint32_t function) const {
    const auto found = std::lower_bound(taken_.begin(), taken_.end(), Pair{function, 0});
    return found != taken_.end() && found->first == function;
  }
  [[nodiscard]] std::optional<std::uint32_t> TakenWithoutPrototype() const {
    const auto without =
        std::ranges::find_if_not(address_of_, [this](auto f) { return IsTaken(f); });
    return without == address_of_.end() ? std::nullopt : std::optional(*without);
  }

  // Code without a place of its own (ptxas -pic) finds functions by way of a table of pointers,
  // each a variable with a name that says to what. False where it points to something else.
  bool ReadPointerTable() {
    const auto table =
        std::ranges::find(sections_, format::section_name::kPointerConstants, &InputSection::name);
    if (table == sections_.end()) return true;
    const auto index = static_cast<std::uint32_t>(table - sections_.begin());
    for (std::uint32_t i = 1; i < view_.symbol_count(); ++i) {
      if (view_.SymbolSectionAt(i) == index && view_.SymbolTypeAt(i) != format::kSttSection) {
        pointers_.push_back({.value = view_.SymbolAt(i).value, .variable = i});
      }
    }
    std::ranges::sort(pointers_, {}, &Pointer::value);
    for (const InputSection& list : sections_) {
      if (list.role == SectionRole::kRelocations && list.info == index && !ReadPointers(list)) {
        return false;
      }
    }
    std::ranges::sort(pointers_, {}, &Pointer::variable);
    return true;
  }

  bool ReadPointers(const InputSection& list) {
    const base::BoundedReader entries(list.data);
    const std::uint64_t step = format::SizeOfRelocation(list.type == format::kShtRela);
    for (std::uint64_t at = 0; at + step <= list.data.size(); at += step) {
      const auto entry = entries.ReadOrZero<format::Rel>(at);
      const auto pointer = std::ranges::lower_bound(pointers_, entry.offset, {}, &Pointer::value);
      if (pointer == pointers_.end() || pointer->value != entry.offset) {
        if (from_assembler_()) return false;
        continue;  // -r leaves those of which another file has a copy that stays
      }
      std::string_view name = view_.SymbolAt(pointer->variable).name;
      if (!name.starts_with(format::kAddressOf)) return false;
      name.remove_prefix(format::kAddressOf.size());
      if (view_.SymbolAt(entry.symbol).name != name) return false;
      pointer->to = entry.symbol;
    }
    return true;
  }

  // What a symbol that code refers to leads to.
  [[nodiscard]] std::uint32_t BehindPointer(std::uint32_t symbol) const {
    const auto pointer = std::ranges::lower_bound(pointers_, symbol, {}, &Pointer::variable);
    const bool leads =
        pointer != pointers_.end() && pointer->variable == symbol && pointer->to != 0;
    return leads ? pointer->to : symbol;
  }

  // A function to which code or data refers, and the lists do not say so.
  [[nodiscard]] std::optional<std::uint32_t> NotNamed() const {
    for (const InputSection& section : sections_) {
      if (section.role != SectionRole::kRelocations || section.info >= sections_.size()) continue;
      if (const auto function = NotNamedOf(section)) return function;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint32_t> NotNamedOf(const InputSection& list) const {
    const SectionRole role = sections_[list.info].role;
    const bool is_code = role == SectionRole::kText;
    const bool is_data =
        role == SectionRole::kGlobalInit ||
        (role == SectionRole::kConstantBank &&
         sections_[list.info].name != format::section_name::kPointerConstants);  // read before
    if (!is_code && !is_data) return std::nullopt;
    const std::uint32_t function =
        is_code ? format::FunctionOfCode(sections_[list.info].info) : std::uint32_t{0};
    const base::BoundedReader entries(list.data);
    const std::uint64_t step = format::SizeOfRelocation(list.type == format::kShtRela);
    for (std::uint64_t at = 0; at + step <= list.data.size(); at += step) {
      const auto entry = entries.ReadOrZero<format::Rel>(at);
      const std::uint32_t symbol = is_code ? BehindPointer(entry.symbol) : entry.symbol;
      if (is_code && symbol == entry.symbol && !IsToBeNamed(entry.type)) continue;
      if (view_.SymbolTypeAt(symbol) != format::kSttFunc) continue;
      // The assembler knows where calls of a part lead, and has no list of those.
      if (IsPartOfCode(view_, sections_, symbol, view_.SymbolAt(symbol))) continue;
      if (!is_code) {
        if (IsTaken(symbol)) continue;
        return from_assembler_() ? std::optional(symbol) : std::nullopt;
      }
      const Pair pair{function, BodyOf(symbol)};
      if (pair.second == function || IsNamed(pair)) {
        continue;
      }
      // What -r joined may be of an earlier toolkit.
      const bool is_call = format::FunctionUseOf(entry.type) == format::FunctionUse::kCall;
      if (is_call || from_assembler_()) return symbol;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool IsToBeNamed(std::uint32_t type) const {
    const format::FunctionUse use = format::FunctionUseOf(type);
    return use == format::FunctionUse::kCall ||
           (use == format::FunctionUse::kAddress && has_takers_ && names_addresses_);
  }

  // Each device function that other modules can call has one, either there or in the call graph.
  // One that has another's code may have been declared without `.visible` and then has none.
  [[nodiscard]] std::optional<std::uint32_t> WithoutOnePrototype() const {
    const InputSection* const section = Find(SectionRole::kPrototype);
    if (section == nullptr) return std::nullopt;
    Few<std::uint32_t> functions;
    const base::BoundedReader pairs(section->data);
    for (std::uint64_t at = 0; at + 8 <= section->data.size(); at += 8) {
      functions.push_back(pairs.ReadOrZero<std::uint32_t>(at));
    }
    for (const Pair& pair : taken_) {
      if (IsToHavePrototype(pair.first)) functions.push_back(pair.first);
    }
    std::sort(functions.begin(), functions.end());
    std::size_t next = 0;
    for (std::uint32_t i = 1; i < view_.symbol_count(); ++i) {
      if (!IsToHavePrototype(i)) continue;
      const bool has_one = next < functions.size() && functions[next] == i;
      if (!has_one && BodyOf(i) == i) return i;
      next += has_one ? 1 : 0;
    }
    return next == functions.size() ? std::nullopt : std::optional(functions[next]);
  }
  [[nodiscard]] bool IsToHavePrototype(std::uint32_t symbol) const {
    const ModuleView::SymbolTraits function = view_.SymbolTraitsAt(symbol);
    return function.type == format::kSttFunc && function.binding != format::kStbLocal &&
           (function.other & format::kStoEntry) == 0;
  }

  struct Pointer {
    std::uint64_t value = 0;
    std::uint32_t variable = 0;
    std::uint32_t to = 0;
  };

  const ModuleView& view_;
  std::span<const InputSection> sections_;
  absl::FunctionRef<bool()> from_assembler_;
  Few<Named> named_;               // callers and takers with the functions they refer to
  Few<Pair> taken_;                // with the offset of the prototype
  std::vector<Pointer> pointers_;  // by variable
  Few<std::uint32_t> address_of_;  // as the list of takers has them
  bool names_addresses_;
  bool has_takers_ = false;
};

}  // namespace

std::string WrongInCallGraph(const ModuleView& view, std::span<const InputSection> sections,
                             absl::FunctionRef<bool()> from_assembler, std::uint16_t toolkit) {
  return CallGraphCheck(view, sections, from_assembler, toolkit).Wrong();
}

}  // namespace devlink::internal
