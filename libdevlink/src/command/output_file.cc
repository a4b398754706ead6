// SPDX-License-Identifier: Apache-2.0
#include "command/output_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace devlink::internal {

namespace {

std::string Reason(int error) { return std::generic_category().message(error); }

bool IsSameFile(const OutputTarget& target, const struct stat& file) {
  struct stat info = {};
  return fstatat(target.folder.get(), target.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         info.st_dev == file.st_dev && info.st_ino == file.st_ino;
}

}  // namespace

OutputFile::~OutputFile() {
  if (target_) replacement_.Remove(*target_);
}

// nvlink's words.
absl::Status CouldNotWrite(std::string_view path, int error) {
  return absl::UnavailableError(
      absl::StrCat("Could not write output file '", base::ToAbsl(path), "'\n", Reason(error)));
}

absl::Status OutputFile::CannotOpen(int error) const {
  return absl::UnavailableError(
      absl::StrCat("Could not open output file '", path_, "'\n", Reason(error)));
}

// nvlink says nothing, and leaves half a file.
absl::Status OutputFile::CannotWrite(int error) const { return CouldNotWrite(path_, error); }

// Half of what writing a large file costs is that the system finds room for each of its pages.
void OutputFile::Expect(std::uint64_t about) {
  struct stat info = {};
  const bool is_there = stat(path_.c_str(), &info) == 0;
  if (way_ != Way::kNone || about == 0 || (is_there && !S_ISREG(info.st_mode))) return;
  if (!Open().ok()) {
    if (target_) replacement_.Remove(*target_);
    target_.reset();
  } else if (way_ == Way::kReplace) {
    // A guess that is above what files may have is not worth the signal that ends the process then.
    std::uint64_t most = std::uint64_t{1} << 40;
    struct rlimit limit = {};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0) most = std::min<std::uint64_t>(most, limit.rlim_cur);
    const auto size = static_cast<off_t>(std::min(about, most));
    // Where the system cannot make room, or for a part only, it is found as it is needed.
    takes_room_ = true;
    static_cast<void>(fallocate(replacement_.file(), FALLOC_FL_KEEP_SIZE, 0, size));
  }
}

absl::Status OutputFile::Begin(std::uint64_t /*size*/) {
  return way_ == Way::kNone ? Open() : absl::OkStatus();
}

absl::Status OutputFile::Open() {
  // Whether it may be written is for the system to say.
  Descriptor file(open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  struct stat info = {};
  if (!file.open()) {
    if (errno != ENOENT) return CannotOpen(errno);
    target_ = FindOutputTarget(path_);
    if (!target_ || !replacement_.Open(*target_, nullptr)) return CannotOpen(errno);
    way_ = Way::kReplace;
    return absl::OkStatus();
  }
  if (fstat(file.get(), &info) != 0) return CannotOpen(errno);
  way_ = Way::kDirect;
  if (S_ISREG(info.st_mode)) {
    way_ = Way::kInPlace;
    target_ = FindOutputTarget(path_);
    if (info.st_nlink == 1 && target_ && IsSameFile(*target_, info) &&
        replacement_.Open(*target_, &info)) {
      way_ = Way::kReplace;
      return absl::OkStatus();
    }
  }
  file_ = std::move(file);
  return absl::OkStatus();
}

absl::Status OutputFile::Append(std::span<const std::uint8_t> bytes) {
  switch (way_) {
    case Way::kNone:
      return CannotWrite(EBADF);
    case Way::kInPlace:
      kept_.insert(kept_.end(), bytes.begin(), bytes.end());
      return absl::OkStatus();
    case Way::kReplace:
    case Way::kDirect:
      break;
  }
  const int file = way_ == Way::kReplace ? replacement_.file() : file_.get();
  return base::WriteAll(file, bytes) ? absl::OkStatus() : CannotWrite(errno);
}

absl::Status OutputFile::Prepare() {
  switch (way_) {
    case Way::kNone:
      return CannotWrite(EBADF);
    case Way::kReplace:
      // A guess may have been too large; what was written is all that is kept.
      if (takes_room_) {
        const off_t end = lseek(replacement_.file(), 0, SEEK_CUR);
        if (end < 0 || ftruncate(replacement_.file(), end) != 0) return CannotWrite(errno);
      }
      return replacement_.Finish(*target_) ? absl::OkStatus() : CannotWrite(errno);
    case Way::kInPlace: {
      // Room first: what is there is lost once the writing begins.
      const auto size = static_cast<off_t>(kept_.size());
      if (size > 0 && fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, 0, size) != 0 &&
          errno != EOPNOTSUPP && errno != ENOSYS) {
        return CannotWrite(errno);
      }
      return absl::OkStatus();
    }
    case Way::kDirect:
      return file_.Close() ? absl::OkStatus() : CannotWrite(errno);
  }
  return absl::OkStatus();
}

bool OutputFile::WriteInPlace() const {
  // Cut off last: until then the room that was there stays ours.
  return base::WriteAll(file_.get(), kept_) &&
         ftruncate(file_.get(), static_cast<off_t>(kept_.size())) == 0;
}

absl::Status OutputFile::Publish(bool undoable) {
  if (way_ == Way::kInPlace && (!WriteInPlace() || !file_.Close())) return CannotWrite(errno);
  if (way_ == Way::kReplace && !replacement_.Rename(*target_, undoable)) return CannotOpen(errno);
  return absl::OkStatus();
}

void OutputFile::Undo() {
  if (way_ == Way::kReplace) replacement_.UndoRename(*target_);
}

absl::Status OutputFile::Commit() {
  OutputFile* const self = this;
  return CommitAll({&self, 1});
}

absl::Status CommitAll(std::span<OutputFile* const> files) {
  for (OutputFile* file : files) DEVLINK_RETURN_IF_ERROR(file->Prepare());
  for (std::size_t i = 0; i < files.size(); ++i) {
    // With nothing behind it that could fail, a rename need not be undone.
    const absl::Status published = files[i]->Publish(/*undoable=*/i + 1 < files.size());
    if (published.ok()) continue;
    while (i-- > 0) files[i]->Undo();
    return published;
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Write(std::string_view text) {
  DEVLINK_RETURN_IF_ERROR(Begin(text.size()));
  return Append({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

absl::Status WriteTextFile(const std::string& path, std::string_view text) {
  OutputFile file(path);
  DEVLINK_RETURN_IF_ERROR(file.Write(text));
  return file.Commit();
}

}  // namespace devlink::internal
