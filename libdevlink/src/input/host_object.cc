// SPDX-License-Identifier: Apache-2.0
#include "input/host_object.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "base/text_bytes.h"
#include "format/elf_cuda.h"
#include "format/host_references.h"
#include "input/host_elf.h"

namespace devlink::internal {

namespace {

constexpr std::string_view kPrelinkedMark = "def ";

// A section's name, or as much of it as no name that we look for has: where every section names the
// same megabytes, nobody has to walk through them each time.
std::string_view NameAt(std::string_view table, std::size_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view name = table.substr(offset, 24);
  return name.substr(0, name.find('\0'));
}

// The strings of a section; the last one may lack its NUL.
std::vector<std::string_view> Strings(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// Adds what a section says to what others said.
void AddModuleIds(std::string_view text, ModuleIds& out) {
  out.present = true;
  std::vector<std::string_view> strings = Strings(text);
  if (strings.empty()) strings.emplace_back();
  // The first string decides; behind an id of its own, `def x` is an id like any other.
  const bool prelinked = strings.front().starts_with(kPrelinkedMark);
  for (std::size_t i = 0; i < strings.size(); ++i) {
    const std::string_view text_of = strings[i];
    if (i > 0 && text_of.empty()) continue;  // padding of sections that were put together
    if (!prelinked) {
      out.own.push_back(text_of);
    } else if (text_of.starts_with(kPrelinkedMark)) {
      out.prelinked.push_back(text_of.substr(kPrelinkedMark.size()));
    } else {
      out.mixed = true;
    }
  }
}

// What this reader looks for in a section.
enum class Wanted { kNothing, kFatbin, kIds, kReferences };

class HostObjectReader {
 public:
  HostObjectReader(base::Bytes bytes, const HostElf& file, base::MemoryLease* memory)
      : bytes_(bytes), file_(file), memory_(memory) {}

  absl::StatusOr<HostObject> Read() {
    out_.nameless = file_.names().empty();
    out_.big_endian = file_.big_endian();
    for (std::uint64_t i = 0; i < file_.section_count(); ++i) {
      DEVLINK_RETURN_IF_ERROR(ReadSection(i, file_.SectionAt(i)));
    }
    DEVLINK_RETURN_IF_ERROR(CheckOverlaps());
    for (const auto& [wanted, name, contents] : found_) {
      DEVLINK_RETURN_IF_ERROR(AskForMemory(wanted, contents));
      Take(wanted, name, contents);
    }
    return std::move(out_);
  }

 private:
  struct Found {
    Wanted wanted;
    std::string_view name;
    base::Bytes contents;
  };

  absl::Status ReadSection(std::uint64_t index, const HostSection& section) {
    if (index != 0 && IsDoubtful(section)) out_.headers_doubtful = true;
    const std::string_view names = file_.names();
    const bool has_name = section.name < names.size();
    if (section.type == format::kShtNull &&
        (!has_name || WantedIn(NameAt(names, section.name)) != Wanted::kReferences)) {
      return absl::OkStatus();
    }
    if (!has_name && !names.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("damaged ELF: a section's name stands at ",
                                                     section.name, " in a table of ", names.size(),
                                                     " bytes"));
    }
    const std::string_view name = NameAt(names, section.name);
    if (index == file_.names_index()) {
      out_.names_doubtful = name != ".shstrtab" && name != ".strtab";
    }
    if (name == ".nvFatBinSegment") out_.has_wrapper = true;
    if (name == ".nv_fatbin") out_.has_whole_program_code = true;
    const Wanted wanted = WantedIn(name);
    const bool has_bytes = section.type != format::kShtNull && section.type != format::kShtNobits;
    if (wanted == Wanted::kReferences && !has_bytes) {
      // nvlink goes by the name and reads what is there.
      return absl::InvalidArgumentError(
          absl::StrCat("damaged ELF: section ", base::ToAbsl(name), " has a type without bytes"));
    }
    if (wanted == Wanted::kNothing) return absl::OkStatus();
    base::Bytes contents;
    if (has_bytes) {
      const auto slice = base::BoundedReader(bytes_).Slice(section.offset, section.size);
      if (!slice.has_value()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "damaged ELF: section ", base::ToAbsl(name), " of ", section.size, " bytes at offset ",
            section.offset, " ends behind the file of ", bytes_.size(), " bytes"));
      }
      contents = *slice;
    }
    found_.push_back({wanted, name, contents});
    return absl::OkStatus();
  }

  // What nobody needs to be right as long as there is device code; where there is none, damage may
  // have hidden it.
  [[nodiscard]] bool IsDoubtful(const HostSection& section) const {
    if (section.type == format::kShtNull) {
      return (section.name | section.offset | section.size | section.link) != 0;
    }
    return section.link >= file_.section_count() ||
           (section.type != format::kShtNobits &&
            !base::BoundedReader(bytes_).Slice(section.offset, section.size));
  }

  Wanted WantedIn(std::string_view name) {
    if (name == "__nv_relfatbin") return Wanted::kFatbin;
    if (name == "__nv_module_id") return Wanted::kIds;
    return FindList(out_.references, name) != nullptr ? Wanted::kReferences : Wanted::kNothing;
  }

  // No tool makes sections that share bytes, and a small file could say a lot with them.
  [[nodiscard]] absl::Status CheckOverlaps() const {
    std::vector<base::Bytes> ranges;
    for (const Found& found : found_) {
      if (!found.contents.empty()) ranges.push_back(found.contents);
    }
    std::sort(ranges.begin(), ranges.end(),
              [](base::Bytes a, base::Bytes b) { return a.data() < b.data(); });
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      if (ranges[i].data() < ranges[i - 1].data() + ranges[i - 1].size()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "damaged ELF: two sections with device code or names share the bytes at offset ",
            ranges[i].data() - bytes_.data()));
      }
    }
    return absl::OkStatus();
  }

  // Every byte may be a text of its own.
  [[nodiscard]] absl::Status AskForMemory(Wanted wanted, base::Bytes contents) const {
    if (wanted == Wanted::kFatbin || memory_ == nullptr) return absl::OkStatus();
    const auto texts = std::count(contents.begin(), contents.end(), 0) + 1;
    return memory_->Take(contents.size() + static_cast<std::uint64_t>(texts) * sizeof(std::string));
  }

  void Take(Wanted wanted, std::string_view name, base::Bytes contents) {
    if (wanted == Wanted::kFatbin) {
      out_.fatbins.push_back(contents);
    } else if (wanted == Wanted::kIds) {
      AddModuleIds(base::TextOf(contents), out_.module_ids);
    } else {
      if (contents.empty()) return;  // as if it were not there
      HostReferences::List* references = FindList(out_.references, name);
      if (contents.back() != 0) out_.endless_list = name;
      HostReferences::List more = ReadHostReferenceList(contents);
      references->present = true;
      std::move(more.names.begin(), more.names.end(), std::back_inserter(references->names));
    }
  }

  const base::Bytes bytes_;
  const HostElf& file_;
  base::MemoryLease* const memory_;
  HostObject out_;
  std::vector<Found> found_;
};

}  // namespace

absl::StatusOr<HostObject> ReadHostObject(base::Bytes bytes, base::MemoryLease* memory) {
  DEVLINK_ASSIGN_OR_RETURN(const HostElf file, HostElf::Open(bytes));
  return HostObjectReader(bytes, file, memory).Read();
}

bool LacksItsCode(const HostObject& object) {
  return object.has_wrapper && object.fatbins.empty() && !object.has_whole_program_code;
}

bool NamesLostModules(const HostObject& object) {
  const std::vector<std::string_view>& ids = object.module_ids.own;
  return object.fatbins.empty() && !object.has_wrapper && !object.has_whole_program_code &&
         !object.module_ids.mixed && !ids.empty() && !ids.front().empty();
}

bool HasNoSegments(base::Bytes bytes) {
  // e_phnum; zero is the same in either byte order.
  constexpr std::uint64_t kSmall = 44;
  constexpr std::uint64_t kWide = 56;
  const base::BoundedReader reader(bytes);
  const bool wide = reader.ReadOrZero<std::uint8_t>(format::kIdentClass) == format::kClass64;
  return reader.ReadOrZero<std::uint16_t>(wide ? kWide : kSmall) == 0;
}

absl::Status CheckElf(base::Bytes bytes) { return ReadHostObject(bytes).status(); }

std::optional<std::uint16_t> ElfMachine(base::Bytes bytes) {
  const base::BoundedReader reader(bytes);
  std::uint16_t machine = 0;
  if (!reader.Read(offsetof(format::Ehdr, machine), machine)) return std::nullopt;
  if (reader.ReadOrZero<std::uint8_t>(format::kIdentData) == format::kDataBig) {
    machine = static_cast<std::uint16_t>(machine << 8 | machine >> 8);
  }
  return machine;
}

}  // namespace devlink::internal
