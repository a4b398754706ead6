// SPDX-License-Identifier: Apache-2.0
#include "command/output_file.h"

#include <array>
#include <filesystem>
#include <iterator>
#include <string>

#include "support/catch.h"
#include "support/process.h"

namespace devlink::internal {
namespace {

namespace fs = std::filesystem;
using testing::ReadText;
using testing::TemporaryDirectory;

constexpr std::array<std::uint8_t, 3> kBytes = {'n', 'e', 'w'};

std::ptrdiff_t FilesIn(const TemporaryDirectory& directory) {
  return std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator());
}

TEST_CASE("A file is there when it is committed", "[command]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("x");
  OutputFile file(path);
  REQUIRE(file.Begin(6).ok());
  REQUIRE(file.Append(kBytes).ok());
  REQUIRE(file.Append(kBytes).ok());
  CHECK_FALSE(fs::exists(path));
  REQUIRE(file.Commit().ok());
  CHECK(ReadText(path) == "newnew");
  CHECK(FilesIn(directory) == 1);
}

TEST_CASE("What is not committed leaves the earlier file alone", "[command]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("x");
  REQUIRE(WriteTextFile(path, "old").ok());
  {
    OutputFile file(path);
    REQUIRE(file.Begin(3).ok());
    REQUIRE(file.Append(kBytes).ok());
    CHECK(FilesIn(directory) == 2);
  }
  CHECK(ReadText(path) == "old");
  CHECK(FilesIn(directory) == 1);
  REQUIRE(WriteTextFile(path, "newer").ok());
  CHECK(ReadText(path) == "newer");
}

TEST_CASE("A file that was never begun does not come into being", "[command]") {
  const TemporaryDirectory directory;
  {
    const OutputFile file(directory.File("x"));
  }
  CHECK(FilesIn(directory) == 0);
  OutputFile file(directory.File("x"));
  CHECK_FALSE(file.Commit().ok());
  CHECK_FALSE(file.Append(kBytes).ok());
  CHECK(FilesIn(directory) == 0);
}

TEST_CASE("What cannot be written is named in nvlink's words", "[command]") {
  const TemporaryDirectory directory;
  const std::string nowhere = directory.File("none/x");
  for (const std::string& path : {nowhere, directory.path().string()}) {
    OutputFile file(path);
    const absl::Status status = file.Begin(3);
    CHECK(status.code() == absl::StatusCode::kUnavailable);
    CHECK(status.message() == "Could not open output file '" + path + "'");
  }
  CHECK(FilesIn(directory) == 0);
}

TEST_CASE("Devices are written directly", "[command]") {
  if (!fs::is_character_file("/dev/null")) DEVLINK_SKIP("no /dev/null");
  CHECK(WriteTextFile("/dev/null", "text").ok());
  CHECK(fs::is_character_file("/dev/null"));
  if (!fs::is_character_file("/dev/full")) return;
  CHECK_FALSE(WriteTextFile("/dev/full", "text").ok());
}

}  // namespace
}  // namespace devlink::internal
