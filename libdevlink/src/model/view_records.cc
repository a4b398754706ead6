// SPDX-License-Identifier: Apache-2.0
#include "model/view_records.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/capsule.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "model/code_places.h"

namespace devlink::internal {

namespace {

absl::Status Differ(const InputSection& section, std::string_view what) {
  return absl::InvalidArgumentError(
      base::ToAbsl(base::Cat({"section '", section.name, "': its two views do not ", what})));
}

// A section by what it is about: the number of a function's machine code, 0 for the whole module.
struct Record {
  std::uint32_t about = 0;
  std::uint32_t section = 0;
};

class View {
 public:
  explicit View(const ModuleView& view)
      : sections_(view.sections()), mercury_(view.kind() == format::ViewKind::kMercury) {
    relocations_.resize(sections_.size());
    for (std::uint32_t i = 1; i < sections_.size(); ++i) {
      const InputSection& section = sections_[i];
      switch (section.role) {
        case SectionRole::kText:
          code_.push_back({MachineCodeOf(i), i});
          break;
        case SectionRole::kModuleInfo:
          infos_.push_back({0, i});
          break;
        case SectionRole::kFunctionInfo:
          infos_.push_back({MachineCodeOf(section.info), i});
          break;
        case SectionRole::kConstantBank:
        case SectionRole::kGlobalInit:
          data_.push_back({0, i});
          break;
        case SectionRole::kFunctionConstants:
          // Parameters belong to machine code alone.
          if (!section.IsParameterBank()) data_.push_back({MachineCodeOf(section.info), i});
          break;
        case SectionRole::kRelocations:
          if (section.info < sections_.size()) relocations_[section.info] = i;
          break;
        default:
          break;
      }
    }
    for (std::vector<Record>* const list : {&code_, &infos_, &data_}) {
      std::ranges::stable_sort(*list, {}, &Record::about);
    }
  }

  [[nodiscard]] std::span<const InputSection> sections() const { return sections_; }
  [[nodiscard]] const std::vector<Record>& code() const { return code_; }
  [[nodiscard]] const std::vector<Record>& infos() const { return infos_; }
  [[nodiscard]] const std::vector<Record>& data() const { return data_; }
  [[nodiscard]] const InputSection& At(const Record& record) const {
    return sections_[record.section];
  }
  // The relocations of a section; null where it has none.
  [[nodiscard]] const InputSection* RelocationsOf(const Record& record) const {
    const std::uint32_t found = relocations_[record.section];
    return found == 0 ? nullptr : &sections_[found];
  }

 private:
  [[nodiscard]] std::uint32_t MachineCodeOf(std::uint32_t code) const {
    return mercury_ ? format::MachineCodeOf(sections_[code].data) : code;
  }

  std::vector<InputSection> sections_;
  bool mercury_;
  std::vector<Record> code_;
  std::vector<Record> infos_;
  std::vector<Record> data_;                // initial values and constants
  std::vector<std::uint32_t> relocations_;  // by section
};

constexpr std::size_t kSymbolSize = sizeof(std::uint32_t);  // with which many records begin

// The next record that both views have, as far as is known.
bool NextInBoth(format::InfoReader& reader, format::InfoRecord& out) {
  while (reader.Next(out)) {
    const format::InfoViews views = format::FindInfoAttribute(out.id).views;
    if (views != format::InfoViews::kUnknown && views != format::InfoViews::kOne) return true;
  }
  return false;
}

// Of a part of a kernel's code each view states a frame of its own.
bool IsFrameOfPart(const ModuleView& view, std::span<const InputSection> sections,
                   const format::InfoRecord& record) {
  if (!view.extensible() || record.id != format::kAttrFrameSize) return false;
  const auto symbol = base::BoundedReader(record.payload).ReadOrZero<std::uint32_t>(0);
  return symbol < view.symbol_count() &&
         IsPartOfCode(view, sections, symbol, view.SymbolAt(symbol));
}

bool IsSameRecord(const format::InfoRecord& sass, const format::InfoRecord& mercury,
                  absl::FunctionRef<bool(const format::InfoRecord&)> has_own_frame) {
  if (sass.id != mercury.id || sass.format != mercury.format || sass.value != mercury.value) {
    return false;
  }
  if (has_own_frame(sass)) {
    return std::ranges::equal(sass.payload.first(kSymbolSize), mercury.payload.first(kSymbolSize));
  }
  switch (format::FindInfoAttribute(sass.id).views) {
    case format::InfoViews::kSame:
      return std::ranges::equal(sass.payload, mercury.payload);
    case format::InfoViews::kCodePlaces: {
      CodePlaces places;
      const base::BoundedReader a(sass.payload);
      const base::BoundedReader b(mercury.payload);
      for (std::uint64_t at = 0; at + 4 <= a.size(); at += 4) {
        places.Add(a.ReadOrZero<std::uint32_t>(at), b.ReadOrZero<std::uint32_t>(at));
      }
      return places.TakeInOneOrder();
    }
    default:
      return true;
  }
}

bool HaveSameAttributes(const InputSection& sass, const InputSection& mercury,
                        absl::FunctionRef<bool(const format::InfoRecord&)> has_own_frame) {
  format::InfoReader ours(sass.data);
  format::InfoReader others(mercury.data);
  format::InfoRecord a;
  format::InfoRecord b;
  while (NextInBoth(ours, a)) {
    if (!NextInBoth(others, b) || !IsSameRecord(a, b, has_own_frame)) return false;
  }
  return !NextInBoth(others, b);
}

// The compiler's own constants, which Mercury code alone has relocations for: tables of places in
// the function's code. All else is the same. `view` is the one that `mercury` is of.
bool HaveSameConstants(base::Bytes sass, const InputSection& mercury_section,
                       const InputSection* relocations, const ModuleView& sass_view,
                       const ModuleView& view) {
  const base::Bytes mercury = mercury_section.data;
  std::vector<std::uint8_t> bytes(sass.begin(), sass.end());
  CodePlaces places;
  if (relocations != nullptr) {
    const base::BoundedReader entries(relocations->data);
    const base::BoundedReader ours(sass);
    for (std::uint64_t at = 0; at + sizeof(format::Rela) <= relocations->data.size();
         at += sizeof(format::Rela)) {
      const auto entry = entries.ReadOrZero<format::Rela>(at);
      const bool is_pointer = view.extensible() && entry.type == format::kRelocMercuryProgram64;
      std::uint32_t place = 0;
      if (!ours.Read(entry.offset, place) ||
          (entry.type != format::kRelocMercuryProgram32 && !is_pointer) ||
          view.SymbolSectionAt(entry.symbol) != mercury_section.info ||
          (is_pointer && place != sass_view.SymbolAt(entry.symbol).value)) {
        return false;
      }
      const auto part = static_cast<std::int64_t>(view.SymbolAt(entry.symbol).value);
      places.Add(place, part + entry.addend);
      for (std::uint64_t i = entry.offset; i < entry.offset + sizeof(place) && i < mercury.size();
           ++i) {
        bytes[i] = mercury[i];
      }
    }
  }
  return std::ranges::equal(bytes, mercury) && places.TakeInOneOrder();
}

// Initial values and variables. Machine code of an extensible program has there where in its kernel
// a part begins, and the Mercury view, `view`, a relocation to the part; both number symbols alike.
bool HaveSameValues(const InputSection& sass, const InputSection& mercury,
                    const InputSection* relocations, const ModuleView& sass_view,
                    const ModuleView& view) {
  if (!view.extensible() || relocations == nullptr) {
    return std::ranges::equal(sass.data, mercury.data);
  }
  std::vector<std::uint8_t> bytes(sass.data.begin(), sass.data.end());
  const base::BoundedReader entries(relocations->data);
  const std::uint64_t step = format::SizeOfRelocation(relocations->type == format::kShtRela);
  for (std::uint64_t at = 0; at + step <= relocations->data.size(); at += step) {
    const auto entry = entries.ReadOrZero<format::Rel>(at);
    if (entry.type != format::kRelocMercuryProgram64) continue;
    std::uint64_t place = 0;
    std::uint64_t theirs = 0;
    if (!base::BoundedReader(sass.data).Read(entry.offset, place) ||
        !base::BoundedReader(mercury.data).Read(entry.offset, theirs) ||
        sass_view.SymbolTypeAt(entry.symbol) != format::kSttFunc ||
        place != sass_view.SymbolAt(entry.symbol).value) {
      return false;
    }
    std::memcpy(bytes.data() + entry.offset, &theirs, sizeof(theirs));
  }
  return std::ranges::equal(bytes, mercury.data);
}

// Both of two lists, section by section.
class Pairing {
 public:
  Pairing(const View& sass, const View& mercury) : sass_(sass), mercury_(mercury) {}

  // `same` tells of two sections, of machine code and of Mercury, whether they are.
  template <typename Same>
  absl::Status Check(const std::vector<Record>& ours, const std::vector<Record>& others,
                     std::string_view what, const Same& same) const {
    for (std::size_t i = 0; i < ours.size() || i < others.size(); ++i) {
      if (i == ours.size()) return Differ(mercury_.At(others[i]), what);
      if (i == others.size() || ours[i].about < others[i].about) {
        return Differ(sass_.At(ours[i]), what);
      }
      if (others[i].about < ours[i].about) return Differ(mercury_.At(others[i]), what);
      if (!same(ours[i], others[i])) return Differ(sass_.At(ours[i]), what);
    }
    return absl::OkStatus();
  }

 private:
  const View& sass_;
  const View& mercury_;
};

}  // namespace

absl::Status CheckRecordsAgree(const ModuleView& sass, const ModuleView& mercury,
                               absl::FunctionRef<bool()> from_assembler) {
  const View ours(sass);
  const View others(mercury);
  const Pairing pairing(ours, others);
  DEVLINK_RETURN_IF_ERROR(pairing.Check(ours.code(), others.code(), "have the same functions",
                                        [](const Record&, const Record&) { return true; }));
  const auto has_own_frame = [&](const format::InfoRecord& record) {
    return IsFrameOfPart(sass, ours.sections(), record);
  };
  DEVLINK_RETURN_IF_ERROR(pairing.Check(ours.infos(), others.infos(), "have the same attributes",
                                        [&](const Record& a, const Record& b) {
                                          return HaveSameAttributes(ours.At(a), others.At(b),
                                                                    has_own_frame);
                                        }));
  return pairing.Check(ours.data(), others.data(), "have the same constants and values",
                       [&](const Record& a, const Record& b) {
                         const InputSection& x = ours.At(a);
                         const InputSection& y = others.At(b);
                         if (x.role != y.role || x.type != y.type || x.size != y.size ||
                             x.align != y.align || x.flags != y.flags) {
                           return false;
                         }
                         if (x.role != SectionRole::kFunctionConstants) {
                           base::StringArena kept;
                           return x.name == format::NameInMachineCode(y.name, kept) &&
                                  HaveSameValues(x, y, others.RelocationsOf(b), sass, mercury);
                         }
                         return HaveSameConstants(x.data, y, others.RelocationsOf(b), sass,
                                                  mercury) ||
                                !from_assembler();
                       });
}

}  // namespace devlink::internal
