// SPDX-License-Identifier: Apache-2.0
#include "finalize/join_jump_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/bounded_reader.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "format/relocations.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

using Bytes = std::vector<std::uint8_t>;
using EntryBytes = std::uint32_t;

// The lists that say where jump tables lie, by the section of machine code that holds the tables.
using TableLists = base::HashMap<std::uint32_t, std::uint32_t>;

// Machine code has no relocations of jump tables, but the Mercury view has those of the same
// constants.
absl::StatusOr<TableLists> TableListsOf(const FileIndex& own) {
  const std::string prefix =
      base::Cat({format::section_name::kMercuryPrefix, format::section_name::kOptimizerConstants});
  TableLists out;
  for (std::uint32_t i = 1; i < own.file().section_count(); ++i) {
    const format::Shdr& list = own.file().header(i);
    if (list.type != format::kShtMercuryRela || list.info >= own.file().section_count()) continue;
    const std::string_view constants = own.file().NameOf(list.info);
    if (!constants.starts_with(prefix)) continue;
    const auto sass = own.CounterpartOf(
        list.info, own,
        base::Cat({format::section_name::kCompilerConstants, constants.substr(prefix.size())}));
    if (!sass) return Different(constants);
    out.emplace(*sass, i);
  }
  return out;
}

std::vector<format::Rela> MercuryReferences(const FileIndex& file, std::uint32_t list) {
  return format::ReadRelocations(file.file().DataOf(list), /*has_addend=*/true);
}

// The constants of one function.
class Constants {
 public:
  // `list` says where tables lie in them, if there are any.
  Constants(const FileIndex& own, std::uint32_t section, std::optional<std::uint32_t> list)
      : own_(own), section_(section), list_(list) {
    if (list_) references_ = MercuryReferences(own_, *list_);
  }

  // A part that has the function has the same constants: its code says in numbers where they lie,
  // and so does that of all other functions that have theirs among them. What entries of tables
  // lead to only a part knows that has that code.
  [[nodiscard]] absl::Status Check(const FileIndex& part) const {
    if (!part.CounterpartOf(own_.file().header(section_).info, own_)) return absl::OkStatus();
    const auto theirs = part.CounterpartOf(section_, own_);
    if (!theirs) return Other();
    if (!HasSameReferences(part)) return Different(own_.file().NameOf(*list_));
    Bytes ours = BytesOf(own_, section_);
    Bytes others = BytesOf(part, *theirs);
    if (ours.size() != others.size()) return Other();
    for (const format::Rela& entry : references_) {
      if (entry.type != format::kRelocMercuryProgram32) continue;
      if (entry.offset > ours.size() || ours.size() - entry.offset < sizeof(EntryBytes)) {
        return Other();
      }
      for (Bytes* bytes : {&ours, &others}) {
        std::memset(bytes->data() + entry.offset, 0, sizeof(EntryBytes));
      }
    }
    return ours == others ? absl::OkStatus() : Other();
  }

  // With each entry of a table from the part that has its code. Every part was checked.
  absl::StatusOr<Bytes> Join(const CodeTaken& taken) const {
    Bytes out = BytesOf(own_, section_);
    base::HashMap<std::uint64_t, EntryBytes> entries;
    for (const format::Rela& entry : references_) {
      if (entry.type != format::kRelocMercuryProgram32) continue;
      DEVLINK_ASSIGN_OR_RETURN(const EntryBytes made, EntryAt(entry, taken));
      if (entries.try_emplace(entry.offset, made).first->second != made) return Other();
      std::memcpy(out.data() + entry.offset, &made, sizeof(made));
    }
    return out;
  }

 private:
  [[nodiscard]] absl::Status Other() const { return Different(own_.file().NameOf(section_)); }

  static Bytes BytesOf(const FileIndex& file, std::uint32_t section) {
    const base::Bytes bytes = file.file().DataOf(section);
    return {bytes.begin(), bytes.end()};
  }

  [[nodiscard]] bool HasSameReferences(const FileIndex& part) const {
    if (!list_) return true;
    const auto list = part.CounterpartOf(*list_, own_);
    if (!list) return false;
    const auto name_of = [](const FileIndex& file, std::uint32_t symbol) {
      const NamedSymbol* named = file.SymbolAt(symbol);
      return named == nullptr ? std::string_view() : named->name;
    };
    return std::ranges::equal(references_, MercuryReferences(part, *list),
                              [&](const format::Rela& a, const format::Rela& b) {
                                return std::tie(a.offset, a.type, a.addend) ==
                                           std::tie(b.offset, b.type, b.addend) &&
                                       name_of(own_, a.symbol) == name_of(part, b.symbol);
                              });
  }

  // In the part that has the code to which it leads.
  absl::StatusOr<EntryBytes> EntryAt(const format::Rela& entry, const CodeTaken& taken) const {
    const NamedSymbol* symbol = own_.SymbolAt(entry.symbol);
    if (symbol == nullptr) return Other();
    const auto found = taken.find(symbol->symbol.shndx);
    if (found == taken.end()) return Other();
    const FileIndex& part = *found->second.part;
    const auto theirs = part.CounterpartOf(section_, own_);
    EntryBytes out = 0;
    if (!theirs || !base::BoundedReader(part.file().DataOf(*theirs)).Read(entry.offset, out)) {
      return Other();
    }
    return out;
  }

  const FileIndex& own_;
  std::uint32_t section_;
  std::optional<std::uint32_t> list_;
  std::vector<format::Rela> references_;
};

}  // namespace

absl::Status JoinJumpTables(FileIndex& own, const CodeTaken& taken,
                            std::span<const FileIndex> parts) {
  DEVLINK_ASSIGN_OR_RETURN(const TableLists lists, TableListsOf(own));
  for (std::uint32_t i = 1; i < own.file().section_count(); ++i) {
    if (!own.file().NameOf(i).starts_with(format::section_name::kCompilerConstants)) continue;
    const auto list = lists.find(i);
    const Constants constants(own, i,
                              list == lists.end() ? std::nullopt : std::optional(list->second));
    for (const FileIndex& part : parts) DEVLINK_RETURN_IF_ERROR(constants.Check(part));
    if (!taken.contains(own.file().header(i).info)) continue;
    DEVLINK_ASSIGN_OR_RETURN(Bytes joined, constants.Join(taken));
    if (!std::ranges::equal(joined, own.file().DataOf(i))) own.file().Replace(i, std::move(joined));
  }
  return absl::OkStatus();
}

}  // namespace devlink::internal
