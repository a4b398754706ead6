// SPDX-License-Identifier: Apache-2.0
#include "devlink-inspect/extract.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "devlink-inspect/inspect.h"
#include "devlink/experimental/fatbin_writer.h"
#include "support/catch.h"
#include "support/elf_builder.h"
#include "support/process.h"
#include "unit/cubin_builder.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;
using inspect::Extractor;
using inspect::FileNameFor;

Cubin Code() { return BuildCubin({.functions = {{.name = "k", .kernel = true}}}); }

ByteVector Fatbin() {
  FatbinWriter writer({.mode = FatbinCompressMode::kSize, .compress_all = true});
  REQUIRE(writer.AddCubin(Code(), Arch{.number = 80}).ok());
  REQUIRE(writer.AddPtx(".version 8.0\n.target sm_75\n", Arch{.number = 75}).ok());
  return *writer.Write();
}

struct Taken {
  std::vector<std::string> names;
  std::vector<std::string> errors;
};

Taken Take(const ByteVector& file, const std::string& member, const fs::path& folder,
           bool force = false, const std::string& name = "lib.a") {
  Taken out;
  Extractor extractor(
      {.member = member, .directory = folder.string(), .force = force},
      [&](std::string_view text) { out.names.emplace_back(text); },
      [&](std::string_view text) { out.errors.emplace_back(text); });
  REQUIRE(extractor.Open().ok());
  extractor.BeginFile(name);
  inspect::InspectBytes(name, file, {.only_contents = true}, extractor);
  extractor.EndFile();
  CHECK(extractor.problems() == out.errors.size());
  return out;
}

ByteVector BytesOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("Every piece of device code can be taken out, unpacked", "[inspect]") {
  const TemporaryDirectory directory;
  const fs::path folder = directory.path() / "new";
  const Taken taken = Take(BuildArchive({{"f", Fatbin()}, {"k.cubin", Code()}}), "all", folder);
  CHECK(taken.errors.empty());
  CHECK(taken.names == std::vector<std::string>{"lib.a.f.1.sm_80.cubin", "lib.a.f.2.compute_75.ptx",
                                                "lib.a.k.cubin"});
  CHECK(BytesOf(folder / "lib.a.f.1.sm_80.cubin") == Code());
  CHECK(BytesOf(folder / "lib.a.k.cubin") == Code());
}

TEST_CASE("One member is taken by its address or the end of it", "[inspect]") {
  const TemporaryDirectory directory;
  const ByteVector archive = BuildArchive({{"f", Fatbin()}, {"t.o", BuildElf({{".text", "x"}})}});
  CHECK(Take(archive, "f:2.compute_75.ptx", directory.path()).names.size() == 1);
  CHECK(Take(archive, "1.sm_80.cubin", directory.path()).names.size() == 1);
  CHECK(Take(archive, "t.o", directory.path()).names == std::vector<std::string>{"lib.a.t.o"});
  const Taken nothing = Take(archive, "u.o", directory.path());
  CHECK(nothing.names.empty());
  CHECK(nothing.errors == std::vector<std::string>{"'lib.a': there is no 'u.o' in it"});
  CHECK(Take(Code(), "all", directory.path()).errors.size() == 1);
}

TEST_CASE("What is there already stays, unless told otherwise", "[inspect]") {
  const TemporaryDirectory directory;
  const ByteVector archive = BuildArchive({{"k.cubin", Code()}});
  const fs::path file = directory.path() / "lib.a.k.cubin";
  std::ofstream(file) << "mine";
  const Taken taken = Take(archive, "all", directory.path());
  CHECK(taken.names.empty());
  REQUIRE(taken.errors.size() == 1);
  CHECK(taken.errors[0].find("--force") != std::string::npos);
  CHECK(BytesOf(file) == ToBytes("mine"));
  CHECK(Take(archive, "all", directory.path(), true).errors.empty());
  CHECK(BytesOf(file) == Code());
}

TEST_CASE("A link is not followed out of the folder", "[inspect]") {
  const TemporaryDirectory directory;
  const fs::path outside = directory.path() / "outside";
  std::ofstream(outside) << "mine";
  const fs::path folder = directory.path() / "folder";
  fs::create_directory(folder);
  fs::create_symlink(outside, folder / "lib.a.k.cubin");
  const ByteVector archive = BuildArchive({{"k.cubin", Code()}});
  CHECK(Take(archive, "all", folder).errors.size() == 1);
  CHECK(Take(archive, "all", folder, true).errors.empty());
  CHECK(BytesOf(outside) == ToBytes("mine"));
  CHECK_FALSE(fs::is_symlink(folder / "lib.a.k.cubin"));
}

TEST_CASE("Names of members name no other place", "[inspect]") {
  CHECK(FileNameFor("../../lib.a", "../../../etc/passwd") == "lib.a..._.._.._etc_passwd");
  CHECK(FileNameFor("/", "") == "x");
  CHECK(FileNameFor(".hidden", "a b$`\n\xff") == "x.hidden.a_b____");
  CHECK(FileNameFor("-rf", "a:b") == "x-rf.a.b");
  CHECK(FileNameFor("a", std::string(1000, 'b') + ".cubin").size() == 200);
  CHECK(FileNameFor("a", std::string(1000, 'b') + ".cubin").ends_with("b.cubin"));

  const TemporaryDirectory directory;
  const fs::path folder = directory.path() / "a" / "b";
  fs::create_directories(folder);
  const ByteVector archive =
      BuildArchive({{"../../x", Code()}, {"..", Code()}, {"../../x", Code()}});
  const Taken taken = Take(archive, "all", folder);
  CHECK(taken.errors.empty());
  CHECK(taken.names.size() == 3);
  for (const std::string& name : taken.names) {
    CHECK(name.find('/') == std::string::npos);
    CHECK(fs::exists(folder / name));
  }
  CHECK_FALSE(fs::exists(directory.path() / "x"));
}

TEST_CASE("Members whose file names would be equal get numbers", "[inspect]") {
  const TemporaryDirectory directory;
  const ByteVector archive = BuildArchive({{"a b", Code()}, {"a_b", Code()}});
  CHECK(Take(archive, "all", directory.path()).names ==
        std::vector<std::string>{"lib.a.a_b", "2.lib.a.a_b"});
}

TEST_CASE("A folder that cannot be made is told", "[inspect]") {
  Extractor extractor({.member = "all", .directory = "/dev/null/folder"}, {}, {});
  CHECK_FALSE(extractor.Open().ok());
}

}  // namespace
}  // namespace devlink::testing
