// SPDX-License-Identifier: Apache-2.0
#include "finalize/own_records.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "finalize/linked_file.h"
#include "format/elf_cuda.h"
#include "format/nv_info.h"
#include "format/sections.h"
#include "format/views.h"

namespace devlink::internal {

namespace {

using Bytes = std::vector<std::uint8_t>;

absl::Status OtherRecords() {
  return absl::InvalidArgumentError(
      "the file of the finalizer has other sections or symbols than the link without it");
}

bool HoldsSymbols(const format::Shdr& section) {
  return section.type == format::kShtSymtab || section.type == format::kShtMercurySymbols;
}

// The symbols of a table have the same names in both files, wherever these stand.
bool SameSymbols(const LinkedFile& a, const LinkedFile& b, std::uint32_t section) {
  const base::BoundedReader one(a.DataOf(section));
  const base::BoundedReader other(b.DataOf(section));
  if (one.size() != other.size()) return false;
  const base::BoundedReader names(a.DataOf(a.header(section).link));
  const base::BoundedReader other_names(b.DataOf(b.header(section).link));
  for (std::uint64_t at = 0; at < one.size(); at += sizeof(format::Sym)) {
    const auto name = names.CString(one.ReadOrZero<std::uint32_t>(at));
    if (!name || name != other_names.CString(other.ReadOrZero<std::uint32_t>(at))) return false;
  }
  return true;
}

// Indices of sections and symbols mean the same in both files.
bool SameTables(const LinkedFile& a, const LinkedFile& b) {
  if (a.section_count() != b.section_count()) return false;
  for (std::uint32_t i = 0; i < a.section_count(); ++i) {
    const format::Shdr& header = a.header(i);
    const format::Shdr& other = b.header(i);
    if (a.NameOf(i) != b.NameOf(i) || header.type != other.type) return false;
    if (!HoldsSymbols(header)) continue;
    if (header.link >= a.section_count() || other.link != header.link) return false;
    if (!SameSymbols(a, b, i)) return false;
  }
  return true;
}

// The symbols of the finalizer's file, whose sizes it may have changed, with the places that their
// names have in ours.
Bytes WithNames(base::Bytes symbols, base::Bytes own) {
  Bytes out(symbols.begin(), symbols.end());
  for (std::uint64_t at = 0; at + sizeof(format::Sym) <= out.size(); at += sizeof(format::Sym)) {
    std::copy_n(own.begin() + static_cast<std::ptrdiff_t>(at), sizeof(std::uint32_t),
                out.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return out;
}

// What the finalizer leaves alone: names and what holds places of names, attributes of the module,
// and all attributes of the Mercury view.
bool IsNotOfCode(const format::Shdr& header, std::string_view section) {
  namespace names = format::section_name;
  if (header.type == format::kShtStrtab || section == names::kModuleInfo ||
      section == names::kCallGraph || section == names::kPrototypes) {
    return true;
  }
  if (!section.starts_with(names::kMercuryPrefix)) return false;
  return section.substr(names::kMercuryPrefix.size()).starts_with(names::kModuleInfo);
}

// What the finalizer may have changed: payloads that say where something lies in code. Of the
// others these name symbols or are made by the link.
bool SpeaksOfCode(const format::InfoRecord& record) {
  constexpr std::array kOfTheLink = {format::kAttrParamCbank, format::kAttrExterns,
                                     format::kAttrCrsStackSize, format::kAttrNumBarriers,
                                     format::kAttrEntryFragments};
  return record.format == format::kInfoSized &&
         std::find(kOfTheLink.begin(), kOfTheLink.end(), record.id) == kOfTheLink.end();
}

// What assemblers from 13.3 on say of machine code alone. The finalizer makes attributes of machine
// code of those of Mercury code, and that of 13.0 knows none of these to add.
bool SaysWhatIsNew(const format::InfoRecord& record) {
  return record.id == format::kAttrSass6b || record.id == format::kAttrSass6d;
}

void Append(const format::InfoRecord& record, Bytes& out) {
  out.push_back(record.format);
  out.push_back(record.id);
  out.push_back(static_cast<std::uint8_t>(record.value));
  out.push_back(static_cast<std::uint8_t>(record.value >> 8));
  out.insert(out.end(), record.payload.begin(), record.payload.end());
}

}  // namespace

// Those of one kind have the same order in both.
absl::StatusOr<Bytes> JoinRecords(base::Bytes finalized, base::Bytes own) {
  constexpr std::size_t kKinds = 256;
  std::array<std::vector<format::InfoRecord>, kKinds> of_code;
  std::array<bool, kKinds> is_known = {};
  format::InfoRecord record;
  format::InfoReader theirs(finalized);
  while (theirs.Next(record)) {
    is_known[record.id] = true;
    if (SpeaksOfCode(record)) of_code[record.id].push_back(record);
  }
  std::array<std::size_t, kKinds> taken = {};
  Bytes out;
  format::InfoReader ours(own);
  while (ours.Next(record)) {
    if (SpeaksOfCode(record)) {
      const std::size_t next = taken[record.id]++;
      if (next == of_code[record.id].size()) return OtherRecords();
      Append(of_code[record.id][next], out);
    } else if (is_known[record.id] || !SaysWhatIsNew(record)) {
      Append(record, out);
    }
  }
  if (!theirs.well_formed() || !ours.well_formed()) return OtherRecords();
  for (std::size_t i = 0; i < kKinds; ++i) {
    if (taken[i] != of_code[i].size()) return OtherRecords();
  }
  return out;
}

absl::StatusOr<Bytes> WithOwnRecords(base::Bytes finalized, base::Bytes own) {
  DEVLINK_ASSIGN_OR_RETURN(LinkedFile out, LinkedFile::Read(finalized));
  DEVLINK_ASSIGN_OR_RETURN(const LinkedFile from, LinkedFile::Read(own));
  if (!SameTables(out, from)) return OtherRecords();
  for (std::uint32_t i = 1; i < out.section_count(); ++i) {
    out.Rename(i, from.header(i).name);
    if (std::ranges::equal(out.DataOf(i), from.DataOf(i))) continue;
    if (IsNotOfCode(out.header(i), from.NameOf(i))) {
      const base::Bytes data = from.DataOf(i);
      out.Replace(i, Bytes(data.begin(), data.end()));
    } else if (HoldsSymbols(out.header(i))) {
      out.Replace(i, WithNames(out.DataOf(i), from.DataOf(i)));
    } else if (out.header(i).type == format::kShtCudaInfo) {
      DEVLINK_ASSIGN_OR_RETURN(Bytes joined, JoinRecords(out.DataOf(i), from.DataOf(i)));
      out.Replace(i, std::move(joined));
    }
  }
  return out.Write();
}

}  // namespace devlink::internal
