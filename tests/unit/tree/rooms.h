// SPDX-License-Identifier: Apache-2.0
//
// The rooms of libdevlink/src, as libdevlink/rooms.txt orders them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace devlink::testing {

struct Arrow {
  std::string from;  // a room
  std::string to;
  std::string file;      // of `from`, by its name in the tree
  std::string included;  // as the file has it
};

class Rooms {
 public:
  static Rooms Read();

  // Lowest first.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  // The place of a room in that order; -1 for what is not a room.
  [[nodiscard]] int LevelOf(const std::string& room) const;

  // The room that implements `devlink/...`; empty where none does, or more than one.
  [[nodiscard]] std::string OwnerOf(const std::string& public_header) const;

  // The room of a file of the library; empty for public headers without owner.
  [[nodiscard]] std::string RoomOf(const std::filesystem::path& file) const;

  // Every include of a file of the library that leads to another room.
  [[nodiscard]] std::vector<Arrow> Arrows() const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::set<std::string>> owners_;  // of a public header
};

}  // namespace devlink::testing
