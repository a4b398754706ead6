// SPDX-License-Identifier: Apache-2.0
#include "unit/tree/rooms.h"

#include <algorithm>
#include <sstream>

#include "unit/tree/source_tree.h"

namespace devlink::testing {

namespace fs = std::filesystem;

namespace {

std::string PublicName(const fs::path& header) {
  return header.lexically_relative(PublicHeaders().parent_path()).string();
}

}  // namespace

Rooms Rooms::Read() {
  Rooms rooms;
  std::istringstream in(TextOf(TreeRoot() / "libdevlink" / "rooms.txt"));
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string room;
    words >> room;
    rooms.names_.push_back(room);
    for (std::string header; words >> header;) rooms.owners_[header].insert(room);
  }
  std::map<std::string, std::set<std::string>> rooms_by_stem;
  for (const fs::path& file : SourcesUnder(LibrarySources())) {
    if (file.extension() != ".cc") continue;
    rooms_by_stem[file.stem().string()].insert(
        file.lexically_relative(LibrarySources()).begin()->string());
  }
  for (const fs::path& header : SourcesUnder(PublicHeaders())) {
    const std::string name = PublicName(header);
    if (rooms.owners_.contains(name)) continue;
    if (const auto found = rooms_by_stem.find(header.stem().string());
        found != rooms_by_stem.end()) {
      rooms.owners_[name] = found->second;
    }
  }
  return rooms;
}

int Rooms::LevelOf(const std::string& room) const {
  const auto found = std::find(names_.begin(), names_.end(), room);
  return found == names_.end() ? -1 : static_cast<int>(found - names_.begin());
}

std::string Rooms::OwnerOf(const std::string& public_header) const {
  const auto found = owners_.find(public_header);
  return found == owners_.end() || found->second.size() != 1 ? "" : *found->second.begin();
}

std::string Rooms::RoomOf(const fs::path& file) const {
  const fs::path in_sources = file.lexically_relative(LibrarySources());
  if (!in_sources.empty() && *in_sources.begin() != "..") return in_sources.begin()->string();
  return OwnerOf(PublicName(file));
}

std::vector<Arrow> Rooms::Arrows() const {
  std::vector<fs::path> files = SourcesUnder(LibrarySources());
  const std::vector<fs::path> headers = SourcesUnder(PublicHeaders());
  files.insert(files.end(), headers.begin(), headers.end());
  std::vector<Arrow> out;
  for (const fs::path& file : files) {
    const std::string from = RoomOf(file);
    for (const IncludeLine& include : IncludesOf(file)) {
      const std::string folder = include.path.substr(0, include.path.find('/'));
      const std::string to = folder == "devlink" ? OwnerOf(include.path) : folder;
      if (!include.quoted || from.empty() || LevelOf(to) < 0 || to == from) continue;
      out.push_back({from, to, NameInTree(file), include.path});
    }
  }
  return out;
}

}  // namespace devlink::testing
