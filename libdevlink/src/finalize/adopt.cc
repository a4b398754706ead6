// SPDX-License-Identifier: Apache-2.0
#include "finalize/adopt.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "finalize/linked_file.h"
#include "format/notes.h"

namespace devlink::internal {

namespace {

absl::Status FileHas(std::string_view what) {
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
    if (!size) return FileHas("no record of its tool");
    std::vector<std::uint8_t> bytes(record.begin(), record.end());
    bytes.insert(bytes.end(), notes.begin() + static_cast<std::ptrdiff_t>(*size), notes.end());
    file.Replace(i, std::move(bytes));
    return absl::OkStatus();
  }
  return FileHas("no records of tools");
}

}  // namespace

absl::StatusOr<std::vector<std::uint8_t>> Adopt(base::Bytes cubin, base::Bytes record) {
  DEVLINK_ASSIGN_OR_RETURN(LinkedFile file, LinkedFile::Read(cubin));
  DEVLINK_RETURN_IF_ERROR(ReplaceRecord(file, record));
  return file.Write();
}

}  // namespace devlink::internal
