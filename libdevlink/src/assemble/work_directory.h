// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_reader.h"
#include "base/strings.h"

namespace devlink::internal {

// A directory that vanishes with the object and all that is in it.
class WorkDirectory {
 public:
  // `names` are those of the files that will be in it.
  WorkDirectory(const std::string& parent, std::vector<std::string_view> names);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string File(std::string_view name) const {
    return base::Cat({path_, "/", name});
  }
  // A new file in it. False, with errno, where that cannot be.
  [[nodiscard]] bool Write(std::string_view name, base::Bytes bytes) const;

 private:
  std::string path_;
  std::vector<std::string_view> names_;
  bool made_ = false;
};

// Writes a new file that only its owner reads. False, with errno, where that cannot be.
bool WriteNewFile(const std::string& path, base::Bytes bytes);

}  // namespace devlink::internal
