// SPDX-License-Identifier: Apache-2.0
//
// Runs other programs and handles their files, for tests that compare with NVIDIA's tools.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace devlink::testing {

struct ProcessResult {
  // What the program returned. -1 where it could not be started, was killed or ran past its limit.
  int exit_status = -1;
  int signal = 0;          // the signal that ended it, 0 for none
  bool timed_out = false;  // ran past the limit and was killed
  std::string out;         // everything written to stdout
  std::string err;         // everything written to stderr

  [[nodiscard]] bool ok() const { return exit_status == 0; }
};

// Starts `argv` (argv[0] is looked up on PATH), waits for its end and collects its output. stdin is
// empty. Safe to call from several threads at once. The working directory is the caller's.
ProcessResult RunProcess(const std::vector<std::string>& argv,
                         std::chrono::milliseconds limit = std::chrono::minutes(5));

// A directory of its own that vanishes with the object. Move-only.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(std::string_view prefix = "devlink-test");
  ~TemporaryDirectory();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // The path of a file in the directory.
  [[nodiscard]] std::string File(std::string_view name) const { return (path_ / name).string(); }

 private:
  void Remove() noexcept;
  std::filesystem::path path_;
};

// Empty where the file cannot be read.
std::optional<std::vector<std::uint8_t>> ReadBytes(const std::filesystem::path& path);
std::optional<std::string> ReadText(const std::filesystem::path& path);

// Create or replace a file; false where that fails.
bool WriteBytes(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);
bool WriteText(const std::filesystem::path& path, std::string_view text);

}  // namespace devlink::testing
