// SPDX-License-Identifier: Apache-2.0
#include "finalize/stand_in_names.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "base/strings.h"
#include "format/elf_cuda.h"
#include "format/sections.h"

namespace devlink::internal {

namespace {

// What no compiler puts into a name; a kernel's name is at least as long as these digits.
constexpr std::string_view kDigits = "?!#%&+-/:;<=>^|~";

std::string StandIn(std::size_t number, std::size_t length) {
  std::string out(length, kDigits.front());
  for (std::size_t i = length; i > 0 && number != 0; number /= kDigits.size()) {
    out[--i] = kDigits[number % kDigits.size()];
  }
  return out;
}

// Whether `number` has that many digits at most.
bool Fits(std::size_t number, std::size_t length) {
  for (; length > 0 && number != 0; --length) number /= kDigits.size();
  return number == 0;
}

absl::Status Damaged() { return absl::InvalidArgumentError("its tables of names are damaged"); }

// The end of a name, of that length, where it is all of it or stands behind a point, as in
// `.text.scale2`.
std::optional<std::string_view> EndOf(std::string_view name, std::size_t length) {
  if (name.size() < length) return std::nullopt;
  const std::size_t before = name.size() - length;
  if (before != 0 && name[before - 1] != '.') return std::nullopt;
  return name.substr(before);
}

// A stretch of the file.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The names of a cubin, in place.
class NameTables {
 public:
  explicit NameTables(std::vector<std::uint8_t> file) : file_(std::move(file)) {}

  absl::Status Read();

  // Replaces names, and ends of names behind a point, by others of the same length.
  void Replace(const base::HashMap<std::string, std::string>& by_name,
               const std::vector<std::size_t>& lengths);

  // Whether any of these is a name, or the end of one behind a point.
  [[nodiscard]] bool HasAny(const base::HashMap<std::string, std::string>& names,
                            const std::vector<std::size_t>& lengths) const;

  // Whether the name of a symbol or a section begins in the middle of what was replaced.
  [[nodiscard]] bool SharesReplaced() const;

  std::vector<std::uint8_t> Take() && { return std::move(file_); }

 private:
  using Header = format::Shdr;

  [[nodiscard]] base::BoundedReader reader() const { return base::BoundedReader(file_); }
  [[nodiscard]] std::string_view NameOf(const Header& section) const;
  absl::Status AddTable(std::uint32_t section);

  // Calls `visit` with the place and the text of each match, until it returns false.
  template <typename Visit>
  void VisitMatches(const base::HashMap<std::string, std::string>& names,
                    const std::vector<std::size_t>& lengths, Visit visit) const;

  std::vector<std::uint8_t> file_;
  std::vector<Header> headers_;
  Range section_names_;
  std::vector<Range> tables_;          // each once
  std::vector<std::uint64_t> places_;  // where names of symbols and sections begin
  std::vector<Range> replaced_;        // in the order of the file
};

std::string_view NameTables::NameOf(const Header& section) const {
  const auto table =
      reader().Slice(section_names_.begin, section_names_.end - section_names_.begin);
  return base::BoundedReader(*table).CString(section.name).value_or("");
}

absl::Status NameTables::AddTable(std::uint32_t section) {
  if (section >= headers_.size()) return Damaged();
  const Header& header = headers_[section];
  if (header.type != format::kShtStrtab || !reader().Slice(header.offset, header.size)) {
    return Damaged();
  }
  const bool is_known = std::any_of(tables_.begin(), tables_.end(), [&](const Range& range) {
    return range.begin == header.offset;
  });
  if (!is_known) tables_.push_back({header.offset, header.offset + header.size});
  return absl::OkStatus();
}

absl::Status NameTables::Read() {
  format::Ehdr header;
  if (!reader().Read(0, header) || header.shentsize != sizeof(Header)) return Damaged();
  const auto first = reader().ReadOrZero<Header>(header.shoff);
  const std::uint64_t count = format::SectionCountOf(header, first);
  if (count > file_.size() / sizeof(Header) ||
      !reader().Slice(header.shoff, count * sizeof(Header))) {
    return Damaged();
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    headers_.push_back(reader().ReadOrZero<Header>(header.shoff + i * sizeof(Header)));
  }
  DEVLINK_RETURN_IF_ERROR(AddTable(format::SectionNamesOf(header, first)));
  section_names_ = tables_.front();
  for (const Header& section : headers_) {
    places_.push_back(section_names_.begin + section.name);
    const std::string_view name = NameOf(section);
    if (name != format::section_name::kSymbols && name != format::section_name::kMercurySymbols) {
      continue;
    }
    DEVLINK_RETURN_IF_ERROR(AddTable(section.link));
    if (!reader().Slice(section.offset, section.size)) return Damaged();
    for (std::uint64_t at = 0; at + sizeof(format::Sym) <= section.size;
         at += sizeof(format::Sym)) {
      const auto symbol = reader().ReadOrZero<std::uint32_t>(section.offset + at);
      places_.push_back(headers_[section.link].offset + symbol);
    }
  }
  return absl::OkStatus();
}

template <typename Visit>
void NameTables::VisitMatches(const base::HashMap<std::string, std::string>& names,
                              const std::vector<std::size_t>& lengths, Visit visit) const {
  for (const Range& table : tables_) {
    const base::BoundedReader reader(
        base::Bytes(file_).subspan(table.begin, table.end - table.begin));
    std::uint64_t at = 0;
    while (const auto name = reader.CString(at)) {
      for (const std::size_t length : lengths) {
        const auto end = EndOf(*name, length);
        const auto found = end ? names.find(base::ToAbsl(*end)) : names.end();
        if (found == names.end()) continue;
        if (!visit(table.begin + at + name->size() - length, found->second)) return;
        break;
      }
      at += name->size() + 1;
    }
  }
}

void NameTables::Replace(const base::HashMap<std::string, std::string>& by_name,
                         const std::vector<std::size_t>& lengths) {
  std::vector<std::pair<std::uint64_t, const std::string*>> changes;
  VisitMatches(by_name, lengths, [&](std::uint64_t at, const std::string& other) {
    changes.emplace_back(at, &other);
    return true;
  });
  for (const auto& [at, other] : changes) {
    std::memcpy(file_.data() + at, other->data(), other->size());
    replaced_.push_back({at, at + other->size()});
  }
}

bool NameTables::HasAny(const base::HashMap<std::string, std::string>& names,
                        const std::vector<std::size_t>& lengths) const {
  bool found = false;
  VisitMatches(names, lengths, [&](std::uint64_t, const std::string&) {
    found = true;
    return false;
  });
  return found;
}

bool NameTables::SharesReplaced() const {
  std::vector<Range> replaced = replaced_;
  std::sort(replaced.begin(), replaced.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return std::any_of(places_.begin(), places_.end(), [&](std::uint64_t place) {
    const auto behind =
        std::upper_bound(replaced.begin(), replaced.end(), place,
                         [](std::uint64_t value, const Range& range) { return value < range.end; });
    return behind != replaced.end() && behind->begin < place;
  });
}

}  // namespace

std::optional<StandInNames> StandInNames::For(const std::vector<std::string_view>& names) {
  StandInNames out;
  base::HashMap<std::size_t, std::size_t> numbers;  // the next one, by length
  for (const std::string_view name : names) {
    std::size_t& number = numbers[name.size()];
    if (!Fits(number, name.size())) return std::nullopt;
    std::string stand_in = StandIn(number++, name.size());
    out.names_.try_emplace(stand_in, std::string(name));
    out.stand_ins_.try_emplace(std::string(name), std::move(stand_in));
  }
  for (const auto& [length, count] : numbers) out.lengths_.push_back(length);
  std::sort(out.lengths_.rbegin(), out.lengths_.rend());
  return out;
}

bool StandInNames::Changes(std::string_view name) const {
  return std::any_of(lengths_.begin(), lengths_.end(), [&](std::size_t length) {
    const auto end = EndOf(name, length);
    return end && stand_ins_.contains(base::ToAbsl(*end));
  });
}

absl::StatusOr<std::vector<std::uint8_t>> StandInNames::Hide(base::Bytes cubin) const {
  NameTables tables({cubin.begin(), cubin.end()});
  DEVLINK_RETURN_IF_ERROR(tables.Read());
  if (tables.HasAny(names_, lengths_)) {
    return absl::InvalidArgumentError("a name has no letters and is one that was to be given");
  }
  tables.Replace(stand_ins_, lengths_);
  if (tables.SharesReplaced()) {
    return absl::InvalidArgumentError("names that stay lie within names that go");
  }
  return std::move(tables).Take();
}

absl::StatusOr<std::vector<std::uint8_t>> StandInNames::Restore(
    std::vector<std::uint8_t> cubin) const {
  NameTables tables(std::move(cubin));
  DEVLINK_RETURN_IF_ERROR(tables.Read());
  tables.Replace(names_, lengths_);
  return std::move(tables).Take();
}

}  // namespace devlink::internal
