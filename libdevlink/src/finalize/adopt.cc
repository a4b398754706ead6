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
  explicit WiderTable(base::Bytes table) : table_(table) { FindNames(); }

  // Behind the first of `name.behind` that is there, and whatever was added there before. Where the
  // table has the name elsewhere, it goes there.
  bool Add(const LeftName& name) {
    const auto old = places_.find(name.text);
    for (const std::string& neighbour : name.behind) {
      const auto found = places_.find(neighbour);
      if (found == places_.end()) continue;
      std::uint64_t at = found->second + neighbour.size();
      while (at < table_.size() && table_[at] == 0) ++at;
      changes_.push_back({.at = at, .added = &name.text});
      if (old != places_.end()) {
        changes_.back().was_at = old->second;
        changes_.push_back({.at = old->second, .removed = name.text.size() + 1});
        places_.erase(old);
      }
      return true;
    }
    return false;
  }

  std::vector<std::uint8_t> Finish() {
    // At one place what is added comes first, in its order.
    std::stable_sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
      return std::pair(a.at, a.removed) < std::pair(b.at, b.removed);
    });
    std::vector<std::uint8_t> out;
    std::uint64_t done = 0;
    for (const Change& change : changes_) {
      const base::Bytes part = table_.subspan(done, change.at - done);
      out.insert(out.end(), part.begin(), part.end());
      done = change.at + change.removed;
      if (change.added != nullptr) {
        if (change.was_at) moved_[*change.was_at] = out.size();
        out.insert(out.end(), change.added->begin(), change.added->end());
        out.push_back(0);
      }
      shifts_.emplace_back(done,
                           static_cast<std::int64_t>(out.size()) - static_cast<std::int64_t>(done));
    }
    const base::Bytes rest = table_.subspan(done);
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  }

  // Of a name that was at `offset`; after Finish.
  [[nodiscard]] std::uint32_t Moved(std::uint32_t offset) const {
    const auto moved = moved_.find(offset);
    if (moved != moved_.end()) return static_cast<std::uint32_t>(moved->second);
    const auto behind = std::upper_bound(
        shifts_.begin(), shifts_.end(), offset,
        [](std::uint64_t value, const auto& shift) { return value < shift.first; });
    if (behind == shifts_.begin()) return offset;
    return static_cast<std::uint32_t>(offset + std::prev(behind)->second);
  }

 private:
  struct Change {
    std::uint64_t at = 0;
    std::uint64_t removed = 0;
    const std::string* added = nullptr;
    std::optional<std::uint64_t> was_at;
  };

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
  std::vector<Change> changes_;
  base::HashMap<std::uint64_t, std::uint64_t> moved_;
  // From where in the old table on names are so far behind.
  std::vector<std::pair<std::uint64_t, std::int64_t>> shifts_;
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
