// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/library_search.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/process.h"
#include "support/toolkit.h"
#include "unit/input/device_files.h"

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

TEST_CASE("Slashes behind a directory and empty directories do not count", "[input]") {
  std::vector<std::string> asked;
  Find({}, {"", "a//", "b/.", "/"}, CpuArch::kX86_64, &asked);
  CHECK(asked == std::vector<std::string>{"a/libq.so", "b/./libq.so", "/libq.so", "a/libq.a",
                                          "b/./libq.a", "/libq.a"});
}

TEST_CASE("A shared library in any directory hides the archives in all", "[input]") {
  const FoundLibrary found = Find({{"a/libq.a", LibraryFor(62)}, {"b/libq.so", {}}}, {"a", "b"});
  CHECK(found.path.empty());
  CHECK(found.hidden_by == "b/libq.so");
  CHECK(found.diagnostics.empty());
}

TEST_CASE("Processors have the names that -cpu-arch takes", "[input]") {
  CHECK(ParseCpuArch("X86_64") == CpuArch::kX86_64);
  CHECK(ParseCpuArch("AARCH64") == CpuArch::kAarch64);
  CHECK_FALSE(ParseCpuArch("x86_64 ").has_value());
  CHECK_FALSE(ParseCpuArch("").has_value());
}

TEST_CASE("A library that is nowhere is not an error", "[input]") {
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

TEST_CASE("What is not an archive ends the link, unless it is tiny", "[input]") {
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

// Files below a directory, and searches in it by nvlink and by FindLibrary. The library in
// directory `d1` has a kernel `found_in_d1`, so that nvlink's output says which it took.
class Searches {
 public:
  explicit Searches(const Toolkit& toolkit) : toolkit_(toolkit) {}

  bool Make() {
    for (const char* directory : {"d1", "d2"}) {
      const auto fatbin =
          CompileToFatbin(toolkit_, directory_, std::string("found_in_") + directory);
      if (!fatbin.has_value()) return false;
      objects_[directory] = [code = ToText(*fatbin)](std::uint16_t machine) {
        return BuildHostObject(code, "_id", {machine != 3 && machine != 40, false, machine, 1});
      };
    }
    return WriteBytes(directory_.File("main.o"), BuildElf({}));
  }

  // `files` by path; `directories` are those of -L; no -cpu-arch where it is empty.
  void Check(const std::map<std::string, ByteVector>& files,
             const std::vector<std::string>& directories, const std::string& cpu_arch = "") {
    namespace fs = std::filesystem;
    const fs::path root = directory_.path() / "files";
    fs::remove_all(root);
    fs::create_directories(root / "d1");
    fs::create_directories(root / "d2");
    for (const auto& [name, bytes] : files) REQUIRE(WriteBytes(root / name, bytes));

    std::string command = "cd " + root.string() + " && " + toolkit_.nvlink +
                          " -arch=sm_90 -ignore-host-info -o out ../main.o -lq";
    for (const std::string& directory : directories) command += " -L'" + directory + "'";
    if (!cpu_arch.empty()) command += " -cpu-arch=" + cpu_arch;
    const ProcessResult run = RunProcess({"/bin/sh", "-c", "LIBRARY_PATH=; " + command});
    const std::string output = ReadText(root / "out").value_or("");

    const LibraryProbe probe = {
        .exists = [&](const std::string& path) { return fs::exists(root / path); },
        .read = [&](const std::string& path) -> absl::StatusOr<ByteVector> {
          auto bytes = ReadBytes(root / path);
          if (!bytes.has_value()) return absl::NotFoundError("no such file");
          return *std::move(bytes);
        }};
    const FoundLibrary found =
        FindLibrary("q", directories, ParseCpuArch(cpu_arch).value_or(CpuArch::kX86_64), probe);
    std::string said;
    for (Diagnostic diagnostic : found.diagnostics) {
      diagnostic.notes.clear();
      said += RenderDiagnostic(diagnostic, "nvlink");
    }
    CAPTURE(command, found.path);
    CHECK(run.out + run.err == said);
    for (const std::string directory : {"d1", "d2"}) {
      const bool ours = found.path.find(directory + "/") != std::string::npos;
      CHECK((output.find("found_in_" + directory) != std::string::npos) == ours);
    }
  }

  [[nodiscard]] ByteVector Library(const std::string& directory, std::uint16_t machine) const {
    return BuildArchive({{"h.o", objects_.at(directory)(machine)}});
  }
  [[nodiscard]] ByteVector Object(const std::string& directory, std::uint16_t machine = 62) const {
    return objects_.at(directory)(machine);
  }

 private:
  const Toolkit& toolkit_;
  TemporaryDirectory directory_;
  std::map<std::string, std::function<ByteVector(std::uint16_t machine)>> objects_;
};

TEST_CASE("Libraries are found where nvlink finds them", "[input][toolkit]") {
  const std::optional<Toolkit> toolkit = FindToolkit();
  if (!toolkit.has_value()) DEVLINK_SKIP("no CUDA toolkit");
  if (toolkit->release != "13.0") DEVLINK_SKIP("the rules are those of CUDA 13.0");
  Searches searches(*toolkit);
  REQUIRE(searches.Make());
  const ByteVector first = searches.Library("d1", 62);
  const ByteVector second = searches.Library("d2", 62);
  const std::vector<std::string> both = {"d1", "d2"};
  searches.Check({{"d1/libq.a", first}, {"d2/libq.a", second}}, both);
  searches.Check({{"d1/libq.a", first}, {"d2/libq.a", second}}, {"d2//", "d1/"});
  searches.Check({{"d2/libq.a", second}}, {"", "nowhere", "d1", "d2/."});
  searches.Check({{"d1/libq.a", first}, {"d2/libq.so", {}}}, both);
  searches.Check({{"d1/libq.so", ToBytes("text")}, {"d2/libq.a", second}}, {"d2"});
  searches.Check({}, both);
  searches.Check({{"d1/libq.a", first}}, {});
  // Not 9 to 11 or 17 to 19 bytes: nvlink reads what lies behind them in its own memory, and says
  // now this, now that of the same file.
  for (const char* text : {"", "1234567", "12345678", "123456789012", "!<arch>\n", "!<thin>\n"}) {
    searches.Check({{"d1/libq.a", ToBytes(text)}, {"d2/libq.a", second}}, both);
  }
  searches.Check({{"d1/libq.a", searches.Object("d1")}, {"d2/libq.a", second}}, both);
  searches.Check({{"d1/libq.a", BuildArchive({{"t", ToBytes("text")}})}, {"d2/libq.a", second}},
                 both);
  searches.Check(
      {{"d1/libq.a", BuildArchive({{"h.o", searches.Object("d1")}, {"t", ToBytes("text")}})},
       {"d2/libq.a", second}},
      both);
  // A shared library for the processor is enough, though only the other member has code.
  searches.Check({{"d1/libq.a", BuildArchive({{"so", BuildElf({}, {true, false, 62, 3})},
                                              {"h.o", searches.Object("d1", 183)}})},
                  {"d2/libq.a", second}},
                 both);
  searches.Check({{"d1/libq.a", BuildArchive({{"c.o", BuildElf({}, {true, false, 190, 1})}})},
                  {"d2/libq.a", second}},
                 both);
  for (const std::uint16_t machine : {3, 21, 40, 62, 183}) {
    for (const char* cpu_arch : {"", "unknown", "X86", "X86_64", "ARMv7", "AARCH64", "PPC64LE"}) {
      searches.Check({{"d1/libq.a", searches.Library("d1", machine)}}, both, cpu_arch);
    }
  }
}

}  // namespace
}  // namespace devlink::testing
