// SPDX-License-Identifier: Apache-2.0
#include "finalize/join_lines.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"
#include "base/status_macros.h"
#include "format/line_table.h"
#include "format/sections.h"

namespace devlink::internal {

namespace {

// A line table of a file.
struct FileLines {
  base::Bytes bytes;
  format::LineTable table;
  base::HashMap<std::uint64_t, format::Rela> references;  // by place

  [[nodiscard]] base::Bytes HeadOf(const format::LineUnit& unit) const {
    return bytes.subspan(unit.begin, unit.program - unit.begin);
  }
  [[nodiscard]] base::Bytes RowsOf(const format::LineSequence& sequence) const {
    return bytes.subspan(sequence.begin, sequence.end - sequence.begin);
  }
  // The section whose lines these are.
  [[nodiscard]] std::optional<std::uint32_t> CodeOf(const FileIndex& file,
                                                    const format::LineSequence& sequence) const {
    for (const std::uint64_t address : table.AddressesOf(sequence)) {
      const auto found = references.find(address);
      if (found == references.end()) continue;
      const NamedSymbol* symbol = file.SymbolAt(found->second.symbol);
      if (symbol != nullptr) return symbol->symbol.shndx;
    }
    return std::nullopt;
  }
};

absl::StatusOr<FileLines> LinesOfFile(const FileIndex& file, std::uint32_t section) {
  FileLines out{.bytes = file.file().DataOf(section), .table = {}, .references = {}};
  auto table = format::LineTable::Read(out.bytes);
  if (!table) return Different(file.file().NameOf(section));
  out.table = *std::move(table);
  for (const std::uint32_t list : file.AttachedTo(section)) {
    for (const format::Rela& reference : file.ReferencesOf(list)) {
      const bool is_first = out.references.try_emplace(reference.offset, reference).second;
      if (!is_first) return Different(file.file().NameOf(section));
    }
  }
  return out;
}

std::uint64_t KeyOf(std::size_t unit, std::uint32_t code) {
  return std::uint64_t{unit} << 32 | code;
}

// What a part has of the code that was taken from it.
struct PartLines {
  FileLines lines;
  // By unit and section, in the order of the table.
  base::HashMap<std::uint64_t, std::vector<format::LineSequence>> sequences;
};

bool HaveSameUnits(const FileLines& a, const FileLines& b) {
  return std::ranges::equal(a.table.units(), b.table.units(),
                            [&](const format::LineUnit& unit, const format::LineUnit& other) {
                              // How long a unit is stands first, and may differ.
                              constexpr std::size_t kLength = sizeof(std::uint32_t);
                              return std::ranges::equal(a.HeadOf(unit).subspan(kLength),
                                                        b.HeadOf(other).subspan(kLength));
                            });
}

// One of the two tables.
class LineJoin {
 public:
  LineJoin(FileIndex& own, const CodeTaken& taken, std::uint32_t section)
      : own_(own), taken_(taken), section_(section) {}

  absl::Status Run() {
    DEVLINK_ASSIGN_OR_RETURN(lines_, LinesOfFile(own_, section_));
    DEVLINK_RETURN_IF_ERROR(ReadParts());
    const std::vector<format::LineUnit>& units = lines_.table.units();
    for (std::size_t i = 0; i < units.size(); ++i) DEVLINK_RETURN_IF_ERROR(JoinUnit(i, units[i]));
    if (left_ != 0) return Wrong();
    DEVLINK_RETURN_IF_ERROR(MoveReferences());
    own_.file().Replace(section_, std::move(out_));
    return absl::OkStatus();
  }

 private:
  [[nodiscard]] absl::Status Wrong() const { return Different(own_.file().NameOf(section_)); }

  absl::Status ReadParts() {
    base::HashMap<const FileIndex*, base::HashSet<std::uint32_t>> sections;
    for (const auto& [own, from] : taken_) sections[from.part].insert(from.section);
    for (const auto& [part, wanted] : sections) {
      const auto section = part->CounterpartOf(section_, own_);
      if (!section) return Wrong();
      PartLines& out = parts_[part];
      DEVLINK_ASSIGN_OR_RETURN(out.lines, LinesOfFile(*part, *section));
      if (!HaveSameUnits(lines_, out.lines)) return Wrong();
      const std::vector<format::LineUnit>& units = out.lines.table.units();
      for (std::size_t i = 0; i < units.size(); ++i) {
        for (const format::LineSequence& sequence : out.lines.table.SequencesOf(units[i])) {
          const auto code = out.lines.CodeOf(*part, sequence);
          if (!code) return Wrong();
          if (!wanted.contains(*code)) continue;
          out.sequences[KeyOf(i, *code)].push_back(sequence);
          ++left_;
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status JoinUnit(std::size_t number, const format::LineUnit& unit) {
    const std::size_t begin = out_.size();
    heads_.push_back(begin);
    Append(lines_.HeadOf(unit));
    base::HashMap<std::uint32_t, std::size_t> met;
    for (const format::LineSequence& sequence : lines_.table.SequencesOf(unit)) {
      const auto code = lines_.CodeOf(own_, sequence);
      const auto from = code ? taken_.find(*code) : taken_.end();
      if (from == taken_.end()) return Wrong();
      const PartLines& part = parts_[from->second.part];
      const auto theirs = part.sequences.find(KeyOf(number, from->second.section));
      const std::size_t which = met[*code]++;
      if (theirs == part.sequences.end() || which >= theirs->second.size()) return Wrong();
      DEVLINK_RETURN_IF_ERROR(TakeRows(sequence, part.lines, theirs->second[which]));
    }
    format::SetUnitSize(std::span(out_).subspan(begin));
    return absl::OkStatus();
  }

  absl::Status TakeRows(const format::LineSequence& own, const FileLines& part,
                        const format::LineSequence& theirs) {
    const auto ours = lines_.table.AddressesOf(own);
    const auto others = part.table.AddressesOf(theirs);
    if (ours.size() != others.size()) return Wrong();
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const auto reference = lines_.references.find(ours[i]);
      const auto other = part.references.find(others[i]);
      if (reference == lines_.references.end() || other == part.references.end() ||
          reference->second.type != other->second.type ||
          reference->second.addend != other->second.addend) {
        return Wrong();
      }
      moved_[ours[i]] = out_.size() + (others[i] - theirs.begin);
    }
    Append(part.RowsOf(theirs));
    --left_;
    return absl::OkStatus();
  }

  absl::Status MoveReferences() {
    for (const std::uint32_t list : own_.AttachedTo(section_)) {
      const bool has_addend = own_.file().header(list).type == format::kShtRela;
      const std::vector<format::Rela> references = own_.ReferencesOf(list);
      const base::Bytes old = own_.file().DataOf(list);
      std::vector<std::uint8_t> bytes(old.begin(), old.end());
      for (std::size_t i = 0; i < references.size(); ++i) {
        const auto place = PlaceOf(references[i].offset);
        if (!place) return Wrong();
        std::memcpy(bytes.data() + i * format::SizeOfRelocation(has_addend), &*place,
                    sizeof(*place));
      }
      own_.file().Replace(list, std::move(bytes));
    }
    return absl::OkStatus();
  }

  // Of a field in a head, or of an address.
  [[nodiscard]] std::optional<std::uint64_t> PlaceOf(std::uint64_t field) const {
    if (const auto moved = moved_.find(field); moved != moved_.end()) return moved->second;
    const format::LineUnit* unit = lines_.table.HeadAt(field);
    if (unit == nullptr) return std::nullopt;
    const auto number = static_cast<std::size_t>(unit - lines_.table.units().data());
    return heads_[number] + (field - unit->begin);
  }

  void Append(base::Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

  FileIndex& own_;
  const CodeTaken& taken_;
  const std::uint32_t section_;
  FileLines lines_;
  base::HashMap<const FileIndex*, PartLines> parts_;
  std::size_t left_ = 0;  // of the parts' sequences
  std::vector<std::uint8_t> out_;
  std::vector<std::uint64_t> heads_;                   // where they lie now, by unit
  base::HashMap<std::uint64_t, std::uint64_t> moved_;  // addresses
};

}  // namespace

absl::Status JoinLines(FileIndex& own, const CodeTaken& taken) {
  for (const std::string_view name :
       {format::section_name::kDebugLine, format::section_name::kSassLine}) {
    const auto found = own.sections().find(name);
    if (found == own.sections().end()) {
      const bool is_same = std::ranges::none_of(
          taken, [&](const auto& code) { return code.second.part->sections().contains(name); });
      if (!is_same) return Different(name);
      continue;
    }
    for (const std::uint32_t section : found->second) {
      DEVLINK_RETURN_IF_ERROR(LineJoin(own, taken, section).Run());
    }
  }
  return absl::OkStatus();
}

}  // namespace devlink::internal
