// SPDX-License-Identifier: Apache-2.0
//
// Remembers which files a link read, those included that thin archives name.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "devlink/environment.h"

namespace devlink::internal {

class FilesRead final : public ForwardingEnvironment {
 public:
  explicit FilesRead(const Environment& base) : ForwardingEnvironment(base) {}

  [[nodiscard]] absl::StatusOr<FileContents> ReadFile(const std::string& path,
                                                      std::uint64_t max_bytes) const override {
    auto contents = ForwardingEnvironment::ReadFile(path, max_bytes);
    if (contents.ok()) {
      const std::lock_guard lock(mutex_);
      paths_.push_back(path);
    }
    return contents;
  }

  using ForwardingEnvironment::base;

  // Of a file that was read in another way.
  void Add(const std::string& path) { paths_.push_back(path); }

  // As they were named, in the order of their names, each once. Not while a link is at work.
  [[nodiscard]] const std::vector<std::string>& paths() const {
    std::sort(paths_.begin(), paths_.end());
    paths_.erase(std::unique(paths_.begin(), paths_.end()), paths_.end());
    return paths_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::string> paths_;
};

}  // namespace devlink::internal
