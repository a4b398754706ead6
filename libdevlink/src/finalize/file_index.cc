// SPDX-License-Identifier: Apache-2.0
#include "finalize/file_index.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/bounded_reader.h"
#include "base/strings.h"

namespace devlink::internal {

absl::Status Different(std::string_view what) {
  return absl::InvalidArgumentError(
      base::ToAbsl(base::Cat({"a part of it has another '", what, "'"})));
}

FileIndex::FileIndex(LinkedFile&& file) : file_(std::move(file)) {
  attached_.resize(file_.section_count());
  for (std::uint32_t i = 1; i < file_.section_count(); ++i) AddSection(i);
  ReadSymbols();
}

std::optional<std::uint32_t> FileIndex::CounterpartOf(std::uint32_t other,
                                                      const FileIndex& in) const {
  const std::string_view name = in.file().NameOf(other);
  const auto there = in.sections_.find(name);
  const auto here = sections_.find(name);
  if (there == in.sections_.end() || here == sections_.end()) return std::nullopt;
  if (there->second.size() != here->second.size()) return std::nullopt;
  const auto at = std::lower_bound(there->second.begin(), there->second.end(), other);
  return here->second[static_cast<std::size_t>(at - there->second.begin())];
}

std::vector<Reference> FileIndex::ReferencesOf(std::uint32_t list) const {
  const bool has_addend = file_.header(list).type == format::kShtRela;
  const std::uint64_t size = format::SizeOfRelocation(has_addend);
  const base::BoundedReader bytes(file_.DataOf(list));
  std::vector<Reference> out;
  for (std::uint64_t at = 0; at + size <= bytes.size(); at += size) {
    out.push_back({bytes.ReadOrZero<std::uint64_t>(at), bytes.ReadOrZero<std::uint32_t>(at + 8),
                   bytes.ReadOrZero<std::uint32_t>(at + 12),
                   has_addend ? bytes.ReadOrZero<std::int64_t>(at + 16) : 0});
  }
  return out;
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
  }
}

}  // namespace devlink::internal
