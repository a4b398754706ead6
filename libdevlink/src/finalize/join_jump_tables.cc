// SPDX-License-Identifier: Apache-2.0
#include "finalize/join_jump_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
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
  Constants(const FileIndex& own, const CodeTaken& taken, std::uint32_t section)
      : own_(own), taken_(taken), section_(section) {}

  // `list` says where tables lie in them.
  absl::StatusOr<Bytes> Join(std::optional<std::uint32_t> list) const {
    const base::Bytes before = own_.file().DataOf(section_);
    Bytes out(before.begin(), before.end());
    base::HashMap<std::uint64_t, EntryBytes> entries;
    if (list) {
      DEVLINK_RETURN_IF_ERROR(CheckList(*list));
      for (const format::Rela& entry : MercuryReferences(own_, *list)) {
        if (entry.type != format::kRelocMercuryProgram32) continue;
        DEVLINK_ASSIGN_OR_RETURN(const EntryBytes made, EntryAt(entry));
        if (entries.try_emplace(entry.offset, made).first->second != made) return Other();
        if (entry.offset > out.size() || out.size() - entry.offset < sizeof(made)) return Other();
        std::memcpy(out.data() + entry.offset, &made, sizeof(made));
      }
    }
    // What else they hold does not depend on who finalized what.
    DEVLINK_ASSIGN_OR_RETURN(const base::Bytes theirs, TheirsOf(own_.file().header(section_).info));
    Bytes rest(theirs.begin(), theirs.end());
    for (const auto& [offset, made] : entries) {
      std::memcpy(rest.data() + offset, &made, sizeof(made));
    }
    if (rest != out) return Other();
    return out;
  }

 private:
  [[nodiscard]] absl::Status Other() const { return Different(own_.file().NameOf(section_)); }

  // The finalizer keeps entries of bodies that were replaced by others, our own file does not.
  [[nodiscard]] absl::Status CheckList(std::uint32_t list) const {
    DEVLINK_ASSIGN_OR_RETURN(const FileIndex* part, PartOf(own_.file().header(section_).info));
    const auto theirs = part->CounterpartOf(list, own_);
    const auto is_same = [](const format::Rela& a, const format::Rela& b) {
      return std::tie(a.offset, a.type, a.addend) == std::tie(b.offset, b.type, b.addend);
    };
    if (theirs && std::ranges::equal(MercuryReferences(own_, list),
                                     MercuryReferences(*part, *theirs), is_same)) {
      return absl::OkStatus();
    }
    return Different(own_.file().NameOf(list));
  }

  absl::StatusOr<const FileIndex*> PartOf(std::uint32_t code) const {
    const auto found = taken_.find(code);
    if (found == taken_.end()) return Other();
    return found->second.part;
  }

  // In the part that has this code.
  absl::StatusOr<base::Bytes> TheirsOf(std::uint32_t code) const {
    DEVLINK_ASSIGN_OR_RETURN(const FileIndex* part, PartOf(code));
    const auto theirs = part->CounterpartOf(section_, own_);
    if (!theirs) return Other();
    const base::Bytes bytes = part->file().DataOf(*theirs);
    if (bytes.size() != own_.file().DataOf(section_).size()) return Other();
    return bytes;
  }

  absl::StatusOr<EntryBytes> EntryAt(const format::Rela& entry) const {
    const NamedSymbol* symbol = own_.SymbolAt(entry.symbol);
    if (symbol == nullptr) return Other();
    DEVLINK_ASSIGN_OR_RETURN(const base::Bytes theirs, TheirsOf(symbol->symbol.shndx));
    EntryBytes out = 0;
    if (!base::BoundedReader(theirs).Read(entry.offset, out)) return Other();
    return out;
  }

  const FileIndex& own_;
  const CodeTaken& taken_;
  std::uint32_t section_;
};

}  // namespace

absl::Status JoinJumpTables(FileIndex& own, const CodeTaken& taken) {
  DEVLINK_ASSIGN_OR_RETURN(const TableLists lists, TableListsOf(own));
  for (std::uint32_t i = 1; i < own.file().section_count(); ++i) {
    if (!own.file().NameOf(i).starts_with(format::section_name::kCompilerConstants)) continue;
    if (!taken.contains(own.file().header(i).info)) continue;
    const auto list = lists.find(i);
    const Constants constants(own, taken, i);
    DEVLINK_ASSIGN_OR_RETURN(
        Bytes joined,
        constants.Join(list == lists.end() ? std::nullopt : std::optional(list->second)));
    if (!std::ranges::equal(joined, own.file().DataOf(i))) own.file().Replace(i, std::move(joined));
  }
  return absl::OkStatus();
}

}  // namespace devlink::internal
