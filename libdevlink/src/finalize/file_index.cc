// SPDX-License-Identifier: Apache-2.0
#include "finalize/file_index.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/bounded_reader.h"
#include "base/strings.h"
#include "format/relocations.h"

namespace devlink::internal {

absl::Status Different(std::string_view what) {
  return absl::InvalidArgumentError(
      base::ToAbsl(base::Cat({"a part of it has another '", what, "'"})));
}

FileIndex::FileIndex(LinkedFile&& file) : file_(std::move(file)) {
  attached_.resize(file_.section_count());
  symbols_of_.resize(file_.section_count());
  for (std::uint32_t i = 1; i < file_.section_count(); ++i) AddSection(i);
  ReadSymbols();
}

std::optional<std::uint32_t> FileIndex::CounterpartOf(std::uint32_t other, const FileIndex& in,
                                                      std::string_view name) const {
  const auto there = in.sections_.find(in.file().NameOf(other));
  const auto here = sections_.find(name);
  if (there == in.sections_.end() || here == sections_.end()) return std::nullopt;
  if (there->second.size() != here->second.size()) return std::nullopt;
  const auto at = std::lower_bound(there->second.begin(), there->second.end(), other);
  return here->second[static_cast<std::size_t>(at - there->second.begin())];
}

std::vector<format::Rela> FileIndex::ReferencesOf(std::uint32_t list) const {
  return format::ReadRelocations(file_.DataOf(list), file_.header(list).type == format::kShtRela);
}

void FileIndex::AddSection(std::uint32_t section) {
  const format::Shdr& header = file_.header(section);
  sections_[file_.NameOf(section)].push_back(section);
  const bool is_attached = (header.flags & format::kShfInfoLink) != 0 && !IsMercury(section);
  if (is_attached && header.info < attached_.size()) attached_[header.info].push_back(section);
}

void FileIndex::ReadSymbols() {
  const base::BoundedReader bytes(file_.DataOf(kSymbolTable));
  const base::BoundedReader names(file_.DataOf(file_.header(kSymbolTable).link));
  format::Sym symbol = {};
  for (std::uint64_t at = 0; bytes.Read(at, symbol); at += sizeof(symbol)) {
    const bool is_section = (symbol.info & 15U) == format::kSttSection;
    symbols_.push_back({is_section && symbol.shndx < file_.section_count()
                            ? file_.NameOf(symbol.shndx)
                            : names.CString(symbol.name).value_or(std::string_view()),
                        symbol});
    if (symbol.shndx < symbols_of_.size()) {
      symbols_of_[symbol.shndx].push_back(static_cast<std::uint32_t>(symbols_.size() - 1));
    }
  }
}

}  // namespace devlink::internal
