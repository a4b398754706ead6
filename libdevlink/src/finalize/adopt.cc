// SPDX-License-Identifier: Apache-2.0
#include "finalize/adopt.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/hash_table.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "finalize/linked_file.h"
#include "format/call_graph_records.h"
#include "format/elf_cuda.h"
#include "format/notes.h"
#include "format/sections.h"

namespace devlink::internal {

namespace {

absl::Status Strange(std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the file of the finalizer has ", base::ToAbsl(what)));
}

// The size of the first record of a note section; nothing where it is cut off or of another kind.
std::optional<std::uint64_t> SizeOfFirstRecord(base::Bytes notes) {
  constexpr std::uint64_t kHeader = 12;
  constexpr std::uint64_t kWord = 4;
  const base::BoundedReader reader(notes);
  std::uint32_t vendor = 0;
  std::uint32_t description = 0;
  std::uint32_t type = 0;
  if (!reader.Read(0, vendor) || !reader.Read(4, description) || !reader.Read(8, type)) {
    return std::nullopt;
  }
  const std::uint64_t size =
      kHeader + base::AlignUp(vendor, kWord) + base::AlignUp(description, kWord);
  if (type != format::kNoteToolInfo || !reader.Slice(0, size)) return std::nullopt;
  return size;
}

absl::Status ReplaceRecord(LinkedFile& file, base::Bytes record) {
  for (std::uint32_t i = 1; i < file.section_count(); ++i) {
    if (file.NameOf(i) != format::kToolNoteName) continue;
    const base::Bytes notes = file.DataOf(i);
    const auto size = SizeOfFirstRecord(notes);
    if (!size) return Strange("no record of its tool");
    std::vector<std::uint8_t> bytes(record.begin(), record.end());
    bytes.insert(bytes.end(), notes.begin() + static_cast<std::ptrdiff_t>(*size), notes.end());
    file.Replace(i, std::move(bytes));
    return absl::OkStatus();
  }
  return Strange("no records of tools");
}

// A table of names with further ones in it, and where the names of before are now.
class WiderTable {
 public:
  explicit WiderTable(base::Bytes table) : table_(table) {}

  // Behind the first of `name.behind` that is there, and whatever was added there before.
  bool Add(const LeftName& name) {
    if (places_.empty()) FindNames();
    for (const std::string& neighbour : name.behind) {
      const auto found = places_.find(neighbour);
      if (found == places_.end()) continue;
      std::uint64_t at = found->second + neighbour.size();
      while (at < table_.size() && table_[at] == 0) ++at;
      added_.emplace_back(at, &name.text);
      return true;
    }
    return false;
  }

  std::vector<std::uint8_t> Finish() {
    std::stable_sort(added_.begin(), added_.end(),
                     [](const Added& a, const Added& b) { return a.first < b.first; });
    std::vector<std::uint8_t> out;
    std::uint64_t done = 0;
    const auto copy_to = [&](std::uint64_t end) {
      const base::Bytes part = table_.subspan(done, end - done);
      out.insert(out.end(), part.begin(), part.end());
      done = end;
    };
    std::uint64_t shift = 0;
    for (const auto& [at, text] : added_) {
      copy_to(at);
      out.insert(out.end(), text->begin(), text->end());
      out.push_back(0);
      shift += text->size() + 1;
      shifts_.emplace_back(at, shift);
    }
    copy_to(table_.size());
    return out;
  }

  // Of a name that was at `offset`; after Finish.
  [[nodiscard]] std::uint32_t Moved(std::uint32_t offset) const {
    const auto behind = std::upper_bound(
        shifts_.begin(), shifts_.end(), offset,
        [](std::uint64_t value, const auto& shift) { return value < shift.first; });
    if (behind == shifts_.begin()) return offset;
    return static_cast<std::uint32_t>(offset + std::prev(behind)->second);
  }

 private:
  using Added = std::pair<std::uint64_t, const std::string*>;

  void FindNames() {
    const base::BoundedReader reader(table_);
    for (std::uint64_t at = 0; at < table_.size();) {
      const auto name = reader.CString(at);
      if (!name) break;
      if (!name->empty()) places_.try_emplace(std::string(*name), at);
      at += name->size() + 1;
    }
  }

  base::Bytes table_;
  base::HashMap<std::string, std::uint64_t> places_;
  std::vector<Added> added_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> shifts_;
};

std::string NameIn(const LinkedFile& file, std::uint32_t section) {
  return std::string(file.NameOf(section));
}

absl::Status AddNames(std::span<const LeftName> names, WiderTable& table) {
  for (const LeftName& name : names) {
    if (!table.Add(name)) {
      return Strange(base::Cat({"none of the names beside which '", name.text, "' stands"}));
    }
  }
  return absl::OkStatus();
}

absl::Status AddSectionNames(std::span<const LeftName> names, LinkedFile& file) {
  if (names.empty()) return absl::OkStatus();
  WiderTable table(file.DataOf(file.name_table()));
  DEVLINK_RETURN_IF_ERROR(AddNames(names, table));
  std::vector<std::uint8_t> bytes = table.Finish();
  std::vector<std::uint32_t> moved(file.section_count());
  for (std::uint32_t i = 0; i < file.section_count(); ++i) {
    moved[i] = table.Moved(file.header(i).name);
  }
  file.Replace(file.name_table(), std::move(bytes));
  for (std::uint32_t i = 0; i < file.section_count(); ++i) file.Rename(i, moved[i]);
  return absl::OkStatus();
}

void MoveWord(const WiderTable& table, std::uint64_t offset, std::vector<std::uint8_t>& bytes) {
  const auto word = base::BoundedReader(bytes).ReadOrZero<std::uint32_t>(offset);
  const std::uint32_t moved = table.Moved(word);
  if (bytes.size() >= offset + sizeof(moved)) {
    std::memcpy(bytes.data() + offset, &moved, sizeof(moved));
  }
}

// The offsets into the string table that stand in a section.
void MoveNames(const WiderTable& table, std::string_view section,
               std::vector<std::uint8_t>& bytes) {
  namespace names = format::section_name;
  constexpr std::uint64_t kPair = 8;
  if (section == names::kSymbols || section == names::kMercurySymbols) {
    for (std::uint64_t at = 0; at + sizeof(format::Sym) <= bytes.size();
         at += sizeof(format::Sym)) {
      MoveWord(table, at, bytes);
    }
  } else if (section == names::kPrototypes) {
    for (std::uint64_t at = 0; at + kPair <= bytes.size(); at += kPair) {
      MoveWord(table, at + 4, bytes);
    }
  } else if (section == names::kCallGraph) {
    const std::vector<std::uint8_t> old = bytes;
    format::CallGraphReader reader(old);
    format::CallGraphPair pair;
    while (reader.Next(pair)) {
      if (format::HoldsSymbolPairs(pair.list)) continue;
      MoveWord(table, reader.offset() - 4, bytes);
    }
  }
}

absl::Status AddSymbolNames(std::span<const LeftName> names, LinkedFile& file) {
  if (names.empty()) return absl::OkStatus();
  constexpr std::uint32_t kStringTable = 2;
  WiderTable table(file.DataOf(kStringTable));
  DEVLINK_RETURN_IF_ERROR(AddNames(names, table));
  file.Replace(kStringTable, table.Finish());
  for (std::uint32_t i = 1; i < file.section_count(); ++i) {
    const std::string name = NameIn(file, i);
    const base::Bytes data = file.DataOf(i);
    std::vector<std::uint8_t> bytes(data.begin(), data.end());
    MoveNames(table, name, bytes);
    if (!std::equal(bytes.begin(), bytes.end(), data.begin(), data.end())) {
      file.Replace(i, std::move(bytes));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::uint8_t>> Adopt(base::Bytes cubin, const Adoption& adoption) {
  DEVLINK_ASSIGN_OR_RETURN(LinkedFile file, LinkedFile::Read(cubin));
  DEVLINK_RETURN_IF_ERROR(ReplaceRecord(file, adoption.record));
  // Symbols first: sections are known by their names in the old table.
  DEVLINK_RETURN_IF_ERROR(AddSymbolNames(adoption.symbol_names, file));
  DEVLINK_RETURN_IF_ERROR(AddSectionNames(adoption.section_names, file));
  return file.Write();
}

}  // namespace devlink::internal
