// SPDX-License-Identifier: Apache-2.0
//
// Which room of libdevlink/src may know which, and what every room has.
#include "unit/tree/rooms.h"

#include <algorithm>
#include <map>
#include <string>

#include "support/catch.h"
#include "unit/tree/source_tree.h"

namespace devlink::testing {
namespace {

namespace fs = std::filesystem;

TEST_CASE("Every folder of the library is a room in the list", "[tree]") {
  const Rooms rooms = Rooms::Read();
  REQUIRE(rooms.names().size() > 10);
  for (const auto& entry : fs::directory_iterator(LibrarySources())) {
    if (rooms.LevelOf(entry.path().filename().string()) < 0) {
      FAIL_CHECK(NameInTree(entry.path()) << " is not in libdevlink/rooms.txt");
    }
  }
}

TEST_CASE("Every public header belongs to one room", "[tree]") {
  const Rooms rooms = Rooms::Read();
  for (const fs::path& file : SourcesUnder(PublicHeaders())) {
    const std::string name = file.lexically_relative(PublicHeaders().parent_path()).string();
    if (rooms.LevelOf(rooms.OwnerOf(name)) < 0) {
      FAIL_CHECK(name << ": no room, or more than one, has a .cc file of this name; name the room "
                         "that implements it in libdevlink/rooms.txt");
    }
  }
}

TEST_CASE("No include leads to a room above", "[tree]") {
  const Rooms rooms = Rooms::Read();
  const std::vector<Arrow> arrows = rooms.Arrows();
  REQUIRE(arrows.size() > 100);
  for (const Arrow& arrow : arrows) {
    if (rooms.LevelOf(arrow.to) < rooms.LevelOf(arrow.from)) continue;
    FAIL_CHECK(arrow.file << " (room " << arrow.from << ") includes " << arrow.included << " (room "
                          << arrow.to
                          << ", above it): move what both need to the lower room, or give the "
                             "lower room a small struct of its own and fill it in the upper one");
  }
}

TEST_CASE("Sources include files that exist", "[tree]") {
  for (const fs::path& file : SourcesUnder(TreeRoot() / "libdevlink")) {
    for (const IncludeLine& include : IncludesOf(file)) {
      const std::string folder = include.path.substr(0, include.path.find('/'));
      if (!include.quoted || folder == "absl" || folder == "llvm") continue;
      const fs::path base = folder == "devlink" ? PublicHeaders().parent_path() : LibrarySources();
      const fs::path beside = file.parent_path() / include.path;
      if (!fs::exists(base / include.path) && !fs::exists(beside)) {
        FAIL_CHECK(NameInTree(file) << " includes " << include.path << ", which does not exist");
      }
    }
  }
}

// What a test file includes of a room, its public headers among it.
bool NamesRoom(const Rooms& rooms, const fs::path& test, const std::string& room) {
  const std::vector<IncludeLine> includes = IncludesOf(test);
  return std::any_of(includes.begin(), includes.end(), [&](const IncludeLine& include) {
    return include.path.starts_with(room + "/") || rooms.OwnerOf(include.path) == room;
  });
}

TEST_CASE("Every room has unit tests", "[tree]") {
  const Rooms rooms = Rooms::Read();
  for (const std::string& room : rooms.names()) {
    if (!fs::exists(LibrarySources() / room)) continue;
    const std::vector<fs::path> tests = SourcesUnder(TreeRoot() / "tests" / "unit" / room);
    const bool tested = std::any_of(tests.begin(), tests.end(), [&](const fs::path& test) {
      return test.stem().string().ends_with("_test") && NamesRoom(rooms, test, room);
    });
    if (!tested) {
      FAIL_CHECK("room " << room << " has no test: tests/unit/" << room
                         << " needs a *_test.cc that includes one of its headers");
    }
  }
}

}  // namespace
}  // namespace devlink::testing
