// SPDX-License-Identifier: Apache-2.0
#include "devlink/library_search.h"

#include <map>

#include "support/catch.h"
#include "unit/input/elf_builder.h"

namespace devlink::testing {
namespace {

using Files = std::map<std::string, ByteVector>;

FoundLibrary Find(const Files& files, const std::vector<std::string>& directories,
                  CpuArch arch = CpuArch::kX86_64, std::vector<std::string>* asked = nullptr) {
  LibraryProbe probe;
  probe.exists = [&](const std::string& path) {
    if (asked != nullptr) asked->push_back(path);
    return files.contains(path);
  };
  probe.read = [&](const std::string& path) -> absl::StatusOr<ByteVector> {
    const auto file = files.find(path);
    if (file == files.end()) return absl::NotFoundError("no such file");
    return file->second;
  };
  return FindLibrary("q", directories, arch, probe);
}

ByteVector LibraryFor(std::uint16_t machine) {
  return BuildArchive(
      {{"t.txt", ToBytes("text")}, {"h.o", BuildElf({}, {true, false, machine, 1})}});
}

TEST_CASE("Libraries are searched directory by directory, shared ones first", "[input]") {
  std::vector<std::string> asked;
  const FoundLibrary found =
      Find({{"b/libq.a", LibraryFor(62)}}, {"a", "b"}, CpuArch::kX86_64, &asked);
  CHECK(found.path == "b/libq.a");
  CHECK(found.diagnostics.empty());
  CHECK(asked == std::vector<std::string>{"a/libq.so", "b/libq.so", "a/libq.a", "b/libq.a"});
}

TEST_CASE("A shared library in any directory hides the archives in all", "[input]") {
  const FoundLibrary found = Find({{"a/libq.a", LibraryFor(62)}, {"b/libq.so", {}}}, {"a", "b"});
  CHECK(found.path.empty());
  CHECK(found.hidden_by == "b/libq.so");
  CHECK(found.diagnostics.empty());
}

TEST_CASE("A library that is nowhere is no error", "[input]") {
  CHECK(Find({}, {"a", "b"}).path.empty());
  CHECK(Find({}, {}).diagnostics.empty());
}

TEST_CASE("An archive for another processor is passed over with a warning", "[input]") {
  const Files files = {{"a/libq.a", LibraryFor(183)}, {"b/libq.a", LibraryFor(62)}};
  const FoundLibrary found = Find(files, {"a", "b"});
  CHECK(found.path == "b/libq.a");
  REQUIRE(found.diagnostics.size() == 1);
  CHECK(found.diagnostics[0].severity == Severity::kWarning);
  CHECK(found.diagnostics[0].text == "Skipping incompatible 'a/libq.a' when searching for -lq");
  CHECK(Find(files, {"a", "b"}, CpuArch::kAarch64).path == "a/libq.a");
  CHECK(ParseCpuArch("unknown") == CpuArch::kX86_64);
  CHECK(ParseCpuArch("AARCH64") == CpuArch::kAarch64);
  CHECK_FALSE(ParseCpuArch("x86_64").has_value());
}

TEST_CASE("What is no archive ends the link, unless it is tiny", "[input]") {
  const FoundLibrary found = Find({{"a/libq.a", ToBytes("123456789")}}, {"a"});
  REQUIRE(found.diagnostics.size() == 2);
  CHECK(found.diagnostics[0].text == "unexpected archive format");
  CHECK(found.diagnostics[1].text == "elfLink internal error");
  CHECK(found.diagnostics[1].severity == Severity::kFatal);
  for (const char* tiny : {"", "12345678", "!<arch>\n"}) {
    const FoundLibrary none = Find({{"a/libq.a", ToBytes(tiny)}}, {"a"});
    REQUIRE(none.diagnostics.size() == 1);
    CHECK(none.diagnostics[0].severity == Severity::kWarning);
  }
}

}  // namespace
}  // namespace devlink::testing
