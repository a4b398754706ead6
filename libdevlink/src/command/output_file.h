// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "command/output_target.h"
#include "devlink/sinks.h"

namespace devlink::internal {

// Unavailable, with nvlink's words and the system's reason in a line behind them.
absl::Status CouldNotWrite(std::string_view path, int error);

// A file that is there whole or not at all: it is written beside `path` and renamed by Commit; what
// was not committed is removed. A link is followed, mode and owner of an earlier file are kept.
// Where a new file could not stand for the earlier one (it has several names, its owner or folder
// is not ours to change), the bytes are kept in memory until Commit writes them into it. Devices
// and pipes are written directly. Every error is Unavailable: nvlink's words or ours, and after an
// end of line the system's reason.
class OutputFile final : public OutputSink {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Expect(std::uint64_t about) override;
  absl::Status Begin(std::uint64_t size) override;
  absl::Status Append(std::span<const std::uint8_t> bytes) override;
  // A whole text, not committed.
  absl::Status Write(std::string_view text);
  absl::Status Commit();

 private:
  friend absl::Status CommitAll(std::span<OutputFile* const> files);

  enum class Way {
    kNone,  // not begun
    kReplace,
    kInPlace,
    kDirect,
  };

  [[nodiscard]] absl::Status CannotOpen(int error) const;
  [[nodiscard]] absl::Status CannotWrite(int error) const;
  // Settles the way; nothing is changed yet.
  absl::Status Open();
  // All that can fail, as far as it can be known before the file itself is touched.
  absl::Status Prepare();
  // With `undoable` Undo takes it back, unless the file was written in place.
  absl::Status Publish(bool undoable);
  void Undo();
  [[nodiscard]] bool WriteInPlace() const;

  std::string path_;
  Way way_ = Way::kNone;
  std::optional<OutputTarget> target_;  // of kReplace
  ReplacementFile replacement_;
  bool takes_room_ = false;         // perhaps more than the file needs
  Descriptor file_;                 // of kInPlace and kDirect
  std::vector<std::uint8_t> kept_;  // of kInPlace
};

// All of them or none: what was done for the first is taken back where a later one fails.
absl::Status CommitAll(std::span<OutputFile* const> files);

// A whole file at once, in the same way.
absl::Status WriteTextFile(const std::string& path, std::string_view text);

}  // namespace devlink::internal
