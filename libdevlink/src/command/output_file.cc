// SPDX-License-Identifier: Apache-2.0
#include "command/output_file.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace devlink::internal {

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
}

// nvlink's words.
absl::Status OutputFile::Failed() const {
  return absl::UnavailableError(absl::StrCat("Could not open output file '", path_, "'"));
}

absl::Status OutputFile::Begin(std::uint64_t /*size*/) {
  std::error_code error;
  if (std::filesystem::is_directory(path_, error)) return Failed();
  const bool is_device =
      std::filesystem::exists(path_, error) && !std::filesystem::is_regular_file(path_, error);
  if (!is_device) temporary_ = absl::StrCat(path_, ".", getpid(), ".tmp");
  file_ = std::fopen((is_device ? path_ : temporary_).c_str(), "wb");
  if (file_ == nullptr) {
    temporary_.clear();
    return Failed();
  }
  std::setvbuf(file_, nullptr, _IONBF, 0);  // pieces are large
  return absl::OkStatus();
}

absl::Status OutputFile::Append(std::span<const std::uint8_t> bytes) {
  if (file_ == nullptr) return Failed();
  return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size() ? absl::OkStatus()
                                                                           : Failed();
}

absl::Status OutputFile::Commit() {
  if (file_ == nullptr || std::fclose(std::exchange(file_, nullptr)) != 0) return Failed();
  if (temporary_.empty()) return absl::OkStatus();
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) return Failed();
  temporary_.clear();
  return absl::OkStatus();
}

absl::Status WriteTextFile(const std::string& path, std::string_view text) {
  OutputFile file(path);
  DEVLINK_RETURN_IF_ERROR(file.Begin(text.size()));
  DEVLINK_RETURN_IF_ERROR(
      file.Append({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
  return file.Commit();
}

}  // namespace devlink::internal
