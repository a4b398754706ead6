// SPDX-License-Identifier: Apache-2.0
#include "input/archive.h"

#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace devlink::internal {

namespace {

absl::Status Malformed(std::string_view name, std::uint64_t offset, llvm::Error error) {
  return absl::InvalidArgumentError(absl::StrCat("'", base::ToAbsl(name),
                                                 "' is damaged: at or behind offset ", offset, ": ",
                                                 llvm::toString(std::move(error))));
}

// Where a thin archive's member lies.
std::string MemberPath(std::string_view archive, std::string_view member) {
  const std::size_t slash = archive.rfind('/');
  if (member.starts_with('/') || slash == std::string_view::npos) return std::string(member);
  return base::Cat({archive.substr(0, slash + 1), member});
}

// Files by path: an archive that names one file a thousand times holds it in memory once.
using FileCache = std::map<std::string, base::Bytes>;

absl::Status FillThin(std::string_view name, const FileReader& read_file, ArchiveMember& member,
                      Archive& out, FileCache& cache) {
  const std::string path = MemberPath(name, member.name);
  if (const auto known = cache.find(path); known != cache.end()) {
    member.bytes = known->second;
    return absl::OkStatus();
  }
  if (read_file == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "'", base::ToAbsl(name), "' is a thin archive: its member '", path, "' at offset ",
        member.offset,
        " is a file of its own, and an input from memory opens no files. Add the "
        "archive as a file, or as a regular archive, or set LinkOptions::read_thin_members"));
  }
  auto bytes = read_file(path);
  if (!bytes.ok()) {
    return absl::NotFoundError(absl::StrCat("'", path, "', a member of the thin archive '",
                                            base::ToAbsl(name), "' at offset ", member.offset, ": ",
                                            bytes.status().message()));
  }
  out.owned.push_back(*std::move(bytes));
  member.bytes = out.owned.back();
  cache.emplace(path, member.bytes);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Archive> ReadArchive(std::string_view name, base::Bytes bytes,
                                    const FileReader& read_file) {
  const llvm::StringRef text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto archive_or = llvm::object::Archive::create(llvm::MemoryBufferRef(text, "archive"));
  if (!archive_or) return Malformed(name, 0, archive_or.takeError());
  const llvm::object::Archive& archive = **archive_or;

  Archive out;
  out.thin = archive.isThin();
  out.names_before_data = archive.kind() == llvm::object::Archive::K_BSD ||
                          archive.kind() == llvm::object::Archive::K_DARWIN ||
                          archive.kind() == llvm::object::Archive::K_DARWIN64;
  FileCache cache;
  std::uint64_t offset = 0;
  absl::Status failure;
  llvm::Error error = llvm::Error::success();
  for (const auto& child : archive.children(error)) {
    ArchiveMember member;
    member.offset = child.getChildOffset();
    offset = member.offset;
    auto member_name = child.getName();
    if (!member_name) {
      failure = Malformed(name, offset, member_name.takeError());
      break;
    }
    member.name.assign(member_name->data(), member_name->size());
    if (out.thin) {
      failure = FillThin(name, read_file, member, out, cache);
    } else if (auto contents = child.getBuffer(); contents) {
      // The number in the header may say more than there is.
      const auto slice = base::BoundedReader(bytes).Slice(
          static_cast<std::uint64_t>(contents->data() - text.data()), contents->size());
      if (slice.has_value()) {
        member.bytes = *slice;
      } else {
        failure = absl::InvalidArgumentError(
            absl::StrCat("'", base::ToAbsl(name), "' is damaged: the member '", member.name,
                         "' at offset ", offset, " has ", contents->size(),
                         " bytes and ends behind the file of ", bytes.size(), " bytes"));
      }
    } else {
      failure = Malformed(name, offset, contents.takeError());
    }
    if (!failure.ok()) break;
    out.members.push_back(std::move(member));
  }
  // Looked at whether or not the loop ran to its end: LLVM ends a program that drops an error.
  if (error) {
    absl::Status status = Malformed(name, offset, std::move(error));
    if (failure.ok()) failure = std::move(status);
  }
  DEVLINK_RETURN_IF_ERROR(failure);
  return out;
}

}  // namespace devlink::internal
