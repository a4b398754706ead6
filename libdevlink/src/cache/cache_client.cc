// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_client.h"

#include <algorithm>
#include <cstddef>

#include "cache/file_identity.h"

namespace devlink::internal {

namespace {

constexpr std::size_t kMostProblems = 8;

}  // namespace

std::optional<std::vector<std::uint8_t>> CacheClient::Find(const CacheKey& key) {
  auto found = store_->Find(key);
  if (found.ok()) return *std::move(found);
  Report(found.status());
  return std::nullopt;
}

void CacheClient::Store(const CacheKey& key, std::span<const std::uint8_t> value) {
  const absl::Status status = store_->Store(key, value);
  if (absl::IsCancelled(status)) return;  // for reasons that were reported
  if (!status.ok()) return Report(status);
  const std::lock_guard lock(mutex_);
  ++use_.stored;
}

void CacheClient::CountHit() {
  const std::lock_guard lock(mutex_);
  ++use_.hits;
}

void CacheClient::CountMiss() {
  const std::lock_guard lock(mutex_);
  ++use_.misses;
}

CacheKey CacheClient::KeyOfFile(const std::string& path) {
  if (store_->IsOfThisProcess()) {
    if (const auto state = SettledFileStateKey(path)) return *state;
  }
  absl::Status problem;
  const auto key = FileContentKey(path, store_->OfThisMachine(), problem);
  if (!problem.ok()) Report(problem);
  // Programs that nobody may read can be run.
  return key.ok() ? *key : FileStateKey(path);
}

CacheUse CacheClient::Read() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

void CacheClient::Report(const absl::Status& status) {
  const std::string text(status.message().data(), status.message().size());
  const std::lock_guard lock(mutex_);
  ++use_.faults;
  if (use_.problems.size() >= kMostProblems || std::ranges::count(use_.problems, text) > 0) return;
  use_.problems.push_back(text);
}

}  // namespace devlink::internal
