// SPDX-License-Identifier: Apache-2.0
//
// Archives of `ar`, as GNU and BSD tools write them: regular ones and thin ones.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/bounded_reader.h"

namespace devlink::internal {

// Fetches a file that an input names, for instance a member of a thin archive.
using FileReader =
    std::function<absl::StatusOr<std::vector<std::uint8_t>>(const std::string& path)>;

struct ArchiveMember {
  std::string_view name;     // as `ar t` shows it; for thin archives the path that they hold
  std::uint64_t offset = 0;  // of its header in the archive
  base::Bytes bytes;         // borrowed from the archive or from `Archive::owned`
};

struct Archive {
  std::vector<ArchiveMember> members;  // in their order, without symbol and name tables
  bool thin = false;
  // BSD: a long name stands before the member's own bytes, where nvlink does not expect it. So says
  // the first member.
  bool names_before_data = false;
  std::vector<std::vector<std::uint8_t>> owned;  // bytes of thin members
};

// Reads the list of members. `name` is the archive's for messages, and its folder is where a thin
// archive's members with relative names lie. `read_file` is called for thin members only, once for
// each; a null one makes thin archives fail. Names and contents are views, and
// tables of symbols are passed over. What stands in the archive costs no memory but its list.
//
// InvalidArgument where the archive is malformed, with archive and offset, and for the forms of
// COFF and Darwin; NotFound, with archive and member, where `read_file` fails, but
// ResourceExhausted where that says so. Thread-safe where `read_file` is.
absl::StatusOr<Archive> ReadArchive(std::string_view name, base::Bytes bytes,
                                    const FileReader& read_file);

}  // namespace devlink::internal
