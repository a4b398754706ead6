// SPDX-License-Identifier: Apache-2.0
#include "command/output_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
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
  }
  CHECK(ReadText(path) == "old");
  CHECK(FilesIn(directory) == 1);
  REQUIRE(WriteTextFile(path, "newer").ok());
  CHECK(ReadText(path) == "newer");
  CHECK(FilesIn(directory) == 1);
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

// Blocks of a file, which may be more than it has bytes.
std::uint64_t RoomOf(const std::string& path) {
  struct stat info = {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  constexpr std::uint64_t kBlock = 512;
  return kBlock * static_cast<std::uint64_t>(info.st_blocks);
}

TEST_CASE("Room that was made for a file and that it does not need is given back", "[command]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("x");
  for (const std::uint64_t about : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{4} << 20}) {
    OutputFile file(path);
    file.Expect(about);
    CHECK(FilesIn(directory) <= 1);
    REQUIRE(file.Begin(3).ok());
    REQUIRE(file.Append(kBytes).ok());
    REQUIRE(file.Commit().ok());
    CHECK(ReadText(path) == "new");
    CHECK(RoomOf(path) < 1 << 20);
    fs::remove(path);
  }
}

TEST_CASE("A file that was only expected does not come into being", "[command]") {
  const TemporaryDirectory directory;
  REQUIRE(WriteTextFile(directory.File("old"), "old").ok());
  for (const char* name : {"x", "old"}) {
    OutputFile file(directory.File(name));
    file.Expect(std::uint64_t{1} << 20);
  }
  CHECK(FilesIn(directory) == 1);
  CHECK(ReadText(directory.File("old")) == "old");
}

TEST_CASE("What is in the way of a file that is expected is for its beginning to say",
          "[command]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("folder/x");
  OutputFile file(path);
  file.Expect(std::uint64_t{1} << 20);
  fs::create_directory(directory.File("folder"));
  REQUIRE(file.Begin(3).ok());
  REQUIRE(file.Append(kBytes).ok());
  REQUIRE(file.Commit().ok());
  CHECK(ReadText(path) == "new");

  OutputFile nowhere(directory.File("none/x"));
  nowhere.Expect(std::uint64_t{1} << 20);
  CHECK(nowhere.Begin(3).code() == absl::StatusCode::kUnavailable);
}

// A file system in memory ends the process by a signal where a file would be larger.
TEST_CASE("No more room is made than files may have", "[command]") {
  const fs::path memory = "/dev/shm";
  if (access(memory.c_str(), W_OK) != 0) DEVLINK_SKIP("no file system in memory");
  const std::string path = memory / ("devlink-test-" + std::to_string(getpid()));
  struct rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  OutputFile file(path);
  file.Expect(std::uint64_t{8} << 20);
  const bool written = file.Begin(3).ok() && file.Append(kBytes).ok() && file.Commit().ok();
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(written);
  CHECK(ReadText(path) == "new");
  CHECK(RoomOf(path) < 1 << 20);
  fs::remove(path);
}

// Nobody reads it; whoever opened it would wait for that.
TEST_CASE("A pipe is not opened before it is begun", "[command]") {
  const TemporaryDirectory directory;
  REQUIRE(mkfifo(directory.File("pipe").c_str(), 0600) == 0);
  OutputFile file(directory.File("pipe"));
  file.Expect(std::uint64_t{1} << 20);
}

TEST_CASE("What cannot be written is named in nvlink's words", "[command]") {
  const TemporaryDirectory directory;
  const std::string nowhere = directory.File("none/x");
  for (const std::string& path : {nowhere, directory.path().string()}) {
    OutputFile file(path);
    const absl::Status status = file.Begin(3);
    CHECK(status.code() == absl::StatusCode::kUnavailable);
    CHECK(std::string(status.message()).starts_with("Could not open output file '" + path + "'\n"));
  }
  CHECK(FilesIn(directory) == 0);
}

TEST_CASE("Devices are written directly", "[command]") {
  if (!fs::is_character_file("/dev/null")) DEVLINK_SKIP("no /dev/null");
  CHECK(WriteTextFile("/dev/null", "text").ok());
  CHECK(fs::is_character_file("/dev/null"));
  if (!fs::is_character_file("/dev/full")) return;
  CHECK(WriteTextFile("/dev/full", "text").message() ==
        "Could not write output file '/dev/full'\nNo space left on device");
}

fs::perms ModeOf(const std::string& path) { return fs::status(path).permissions(); }

TEST_CASE("A link is followed, and stays one", "[command]") {
  const TemporaryDirectory directory;
  fs::create_directory(directory.File("d"));
  REQUIRE(WriteTextFile(directory.File("d/file"), "old").ok());
  fs::create_symlink("d/file", directory.File("one"));
  fs::create_symlink(directory.File("one"), directory.File("d/two"));
  REQUIRE(WriteTextFile(directory.File("d/two"), "new").ok());
  CHECK(fs::is_symlink(directory.File("one")));
  CHECK(fs::is_symlink(directory.File("d/two")));
  CHECK(ReadText(directory.File("d/file")) == "new");
  // Also where it leads to a file that is not there yet, or nowhere.
  fs::create_symlink("d/later", directory.File("three"));
  REQUIRE(WriteTextFile(directory.File("three"), "new").ok());
  CHECK(fs::is_symlink(directory.File("three")));
  CHECK(ReadText(directory.File("d/later")) == "new");
  fs::create_symlink("loop", directory.File("loop"));
  CHECK_FALSE(WriteTextFile(directory.File("loop"), "new").ok());
  fs::create_symlink("none/x", directory.File("four"));
  CHECK_FALSE(WriteTextFile(directory.File("four"), "new").ok());
  // Nothing else came into being.
  CHECK(FilesIn(directory) == 5);
  CHECK(std::distance(fs::directory_iterator(directory.File("d")), fs::directory_iterator()) == 3);
}

TEST_CASE("The mode of an earlier file is kept", "[command]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("x");
  REQUIRE(WriteTextFile(path, "old").ok());
  for (const auto mode : {fs::perms::owner_read | fs::perms::owner_write,
                          fs::perms::owner_all | fs::perms::others_all}) {
    fs::permissions(path, mode);
    REQUIRE(WriteTextFile(path, "new").ok());
    CHECK(ModeOf(path) == mode);
  }
}

TEST_CASE("All names of a file lead to what was written", "[command]") {
  const TemporaryDirectory directory;
  REQUIRE(WriteTextFile(directory.File("x"), "a longer text").ok());
  fs::create_hard_link(directory.File("x"), directory.File("y"));
  {
    OutputFile file(directory.File("x"));
    REQUIRE(file.Write("new").ok());
    CHECK(ReadText(directory.File("y")) == "a longer text");
  }
  CHECK(ReadText(directory.File("y")) == "a longer text");
  REQUIRE(WriteTextFile(directory.File("x"), "new").ok());
  CHECK(ReadText(directory.File("y")) == "new");
  CHECK(fs::hard_link_count(directory.File("x")) == 2);
  CHECK(FilesIn(directory) == 2);
}

TEST_CASE("A name may be as long as the system allows", "[command]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File(std::string(255, 'n'));
  REQUIRE(WriteTextFile(path, "new").ok());
  REQUIRE(WriteTextFile(path, "newer").ok());
  CHECK(ReadText(path) == "newer");
}

TEST_CASE("A link that waits under a name that can be guessed is not followed", "[command]") {
  const TemporaryDirectory directory;
  REQUIRE(WriteTextFile(directory.File("victim"), "old").ok());
  const std::string path = directory.File("x");
  fs::create_symlink("victim", path + "." + std::to_string(getpid()) + ".tmp");
  REQUIRE(WriteTextFile(path, "new").ok());
  CHECK(ReadText(directory.File("victim")) == "old");
  CHECK(ReadText(path) == "new");
  CHECK_FALSE(fs::is_symlink(path));
}

TEST_CASE("What leads to a file by its number is written in place", "[command]") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("x");
  REQUIRE(WriteTextFile(path, "a longer text").ok());
  const Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  const std::string self = "/proc/self/fd/" + std::to_string(file.get());
  if (!fs::exists(self)) DEVLINK_SKIP("no /proc");
  REQUIRE(WriteTextFile(self, "new").ok());
  CHECK(ReadText(path) == "new");
  char text[3] = {};
  CHECK(pread(file.get(), text, sizeof(text), 0) == 3);
  CHECK(std::string(text, 3) == "new");
}

TEST_CASE("A file in a folder that is not ours to change is written in place", "[command]") {
  if (geteuid() == 0) DEVLINK_SKIP("root may change every folder");
  const TemporaryDirectory directory;
  fs::create_directory(directory.File("d"));
  REQUIRE(WriteTextFile(directory.File("d/x"), "old").ok());
  fs::permissions(directory.File("d"), fs::perms::owner_read | fs::perms::owner_exec);
  CHECK(WriteTextFile(directory.File("d/x"), "new").ok());
  CHECK_FALSE(WriteTextFile(directory.File("d/y"), "new").ok());
  fs::permissions(directory.File("d"), fs::perms::owner_all);
  CHECK(ReadText(directory.File("d/x")) == "new");
}

TEST_CASE("What was published is taken back where a later file fails", "[command]") {
  const TemporaryDirectory directory;
  REQUIRE(WriteTextFile(directory.File("old"), "old").ok());
  fs::create_directory(directory.File("d"));
  {
    OutputFile replaced(directory.File("old"));
    OutputFile made(directory.File("new"));
    OutputFile lost(directory.File("d/lost"));
    REQUIRE(replaced.Write("new").ok());
    REQUIRE(made.Write("new").ok());
    REQUIRE(lost.Write("new").ok());
    // A folder in its place, too late to be seen before the renames.
    fs::create_directory(directory.File("d/lost"));
    const std::array<OutputFile*, 3> files = {&replaced, &made, &lost};
    CHECK_FALSE(CommitAll(files).ok());
  }
  CHECK(ReadText(directory.File("old")) == "old");
  CHECK_FALSE(fs::exists(directory.File("new")));
  CHECK(FilesIn(directory) == 2);
  CHECK(fs::is_empty(directory.File("d/lost")));
}

}  // namespace
}  // namespace devlink::internal
