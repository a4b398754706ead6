// SPDX-License-Identifier: Apache-2.0
//
// Cubins of ptxas (tests/golden) and places in their files, to say something else there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounded_reader.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/relocations.h"
#include "model/module.h"
#include "support/catch.h"
#include "support/mercury_golden.h"
#include "support/process.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {

using format::ViewKind;
using internal::InputSection;
using internal::Module;
using internal::ModuleView;
using internal::SectionRole;

// What is said of the file when it is loaded; empty where it is taken.
inline std::string Refusal(Cubin bytes) {
  bytes.shrink_to_fit();  // so that a sanitizer sees a read past the end
  const auto module = Module::Load(std::move(bytes));
  if (module.ok()) return "";
  CHECK(module.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(module.status().message().data(), module.status().message().size());
}

// A cubin and places in its file.
class Sample {
 public:
  explicit Sample(Cubin bytes) : bytes_(std::move(bytes)), module_(*Module::Load(bytes_)) {}

  [[nodiscard]] const ModuleView& view(ViewKind kind) const { return module_->view(kind); }
  [[nodiscard]] std::size_t PlaceOf(base::Bytes part) const {
    return static_cast<std::size_t>(part.data() - module_->bytes().data());
  }
  [[nodiscard]] Cubin With(std::size_t place, std::uint8_t exclusive_or) const {
    Cubin out = bytes_;
    out[place] ^= exclusive_or;
    return out;
  }
  [[nodiscard]] Cubin WithWord(std::size_t place, std::uint32_t word) const {
    return WithValue(place, word);
  }
  template <typename T>
  [[nodiscard]] Cubin WithValue(std::size_t place, const T& value) const {
    Cubin out = bytes_;
    std::memcpy(out.data() + place, &value, sizeof(value));
    return out;
  }
  template <typename T>
  [[nodiscard]] T At(std::size_t place) const {
    return base::BoundedReader(bytes_).ReadOrZero<T>(place);
  }
  [[nodiscard]] std::vector<ViewKind> kinds() const {
    std::vector<ViewKind> out = {ViewKind::kSass};
    if (module_->HasView(ViewKind::kMercury)) out.push_back(ViewKind::kMercury);
    return out;
  }
  [[nodiscard]] std::uint8_t ByteAt(std::size_t place) const { return bytes_[place]; }
  [[nodiscard]] std::uint32_t WordAt(std::size_t place) const {
    return base::BoundedReader(bytes_).ReadOrZero<std::uint32_t>(place);
  }
  // Where the header of a section lies.
  [[nodiscard]] std::size_t HeaderOf(std::uint32_t index) const {
    return module_->header().shoff + index * sizeof(format::Shdr);
  }

 private:
  Cubin bytes_;
  ModuleRef module_;
};

inline std::vector<Sample> TwoViewSamples() {
  std::vector<Sample> out;
  for (const char* const file : {"first.cubin", "second.cubin", "alias.cubin", "lines.cubin"}) {
    out.emplace_back(MercuryGolden(file));
  }
  return out;
}

inline Sample Golden(std::string_view file) {
  return Sample(
      ReadBytes(std::string(DEVLINK_TEST_SOURCE "/golden/").append(file)).value_or(Cubin()));
}

// With two views and with one.
inline std::vector<Sample> AllSamples() {
  std::vector<Sample> out = TwoViewSamples();
  for (const char* const file :
       {"indirect_calls.sm_80.2.cubin", "globals.sm_90.1.cubin", "constants.sm_80.1.cubin",
        "jump_tables.sm_80.1.cubin", "jump_tables.sm_75.2.cubin"}) {
    out.push_back(Golden(file));
  }
  return out;
}

// Calls `visit` with each attribute record of a section, and where it lies in the file.
template <typename Visit>
void ForEachRecord(const Sample& sample, const InputSection& section, const Visit& visit) {
  format::InfoReader records(section.data);
  format::InfoRecord record;
  std::size_t at = sample.PlaceOf(section.data);
  for (; records.Next(record); at += 4 + record.payload.size()) visit(record, at);
}

// Calls `visit` with each symbol of a view, and where that lies.
template <typename Visit>
void ForEachSymbol(const Sample& sample, const ModuleView& view, const Visit& visit) {
  const std::vector<InputSection> sections = view.sections();
  const auto symbols = std::ranges::find(sections, format::kShtSymtab, &InputSection::type);
  REQUIRE(symbols != sections.end());
  for (std::uint32_t i = 0; i < view.symbol_count(); ++i) {
    visit(view.SymbolAt(i), sample.PlaceOf(symbols->data) + i * sizeof(format::Sym));
  }
}

// Calls `visit` with each symbol of all views of all samples, its sample, and where it lies.
template <typename Visit>
void ForEachSymbolOfAll(const Visit& visit) {
  for (const Sample& sample : AllSamples()) {
    for (const ViewKind kind : sample.kinds()) {
      ForEachSymbol(sample, sample.view(kind),
                    [&](const auto& symbol, std::size_t at) { visit(sample, symbol, at); });
    }
  }
}

// The same with the functions that it defines.
template <typename Visit>
void ForEachFunction(const Sample& sample, const ModuleView& view, const Visit& visit) {
  ForEachSymbol(sample, view, [&](const internal::InputSymbol& symbol, std::size_t at) {
    if (symbol.type == format::kSttFunc && symbol.section != format::kShnUndef) visit(symbol, at);
  });
}

// Calls `visit` with each section of a view, and its number.
template <typename Visit>
void ForEachSection(const Sample& sample, ViewKind kind, const Visit& visit) {
  const std::vector<InputSection> sections = sample.view(kind).sections();
  for (std::uint32_t i = 1; i < sections.size(); ++i) {
    if (sections[i].role != SectionRole::kOtherView) visit(sections[i], i);
  }
}

inline bool IsInfo(const InputSection& section) {
  return section.role == SectionRole::kFunctionInfo || section.role == SectionRole::kModuleInfo;
}

// Calls `visit` with each attribute record of all views, its section, and where it lies.
template <typename Visit>
void ForEachAttribute(const Sample& sample, const Visit& visit) {
  for (const ViewKind kind : sample.kinds()) {
    ForEachSection(sample, kind, [&](const InputSection& section, std::uint32_t) {
      if (!IsInfo(section)) return;
      ForEachRecord(sample, section, [&](const format::InfoRecord& record, std::size_t at) {
        visit(section, record, at);
      });
    });
  }
}

// Calls `visit` with the view, the section that is relocated, and where each relocation lies, the
// first of each list with `is_first`.
template <typename Visit>
void ForEachRelocation(const Sample& sample, const Visit& visit) {
  for (const ViewKind kind : sample.kinds()) {
    const ModuleView& view = sample.view(kind);
    ForEachSection(sample, kind, [&](const InputSection& list, std::uint32_t) {
      if (list.role != SectionRole::kRelocations) return;
      const std::size_t step = format::SizeOfRelocation(list.type != format::kShtRel);
      const std::size_t begin = sample.PlaceOf(list.data);
      for (std::size_t at = begin; at < begin + list.size; at += step) {
        visit(view, view.SectionAt(list.info), at, at == begin);
      }
    });
  }
}

}  // namespace devlink::testing
