// SPDX-License-Identifier: Apache-2.0
//
// Remembers which files a link read, those included that thin archives name.
#pragma once

#include <mutex>
#include <set>
#include <string>

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
      paths_.insert(path);
    }
    return contents;
  }

  using ForwardingEnvironment::base;

  // Of a file that was read in another way.
  void Add(const std::string& path) { paths_.insert(path); }

  // As they were named. Not while a link is at work.
  [[nodiscard]] const std::set<std::string>& paths() const { return paths_; }

 private:
  mutable std::mutex mutex_;
  mutable std::set<std::string> paths_;
};

}  // namespace devlink::internal
