// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "devlink/experimental/compile_cache.h"

namespace devlink {

namespace {

class MemoryCache final : public CacheStore {
 public:
  explicit MemoryCache(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  absl::StatusOr<std::optional<std::vector<std::uint8_t>>> Find(const CacheKey& key) override {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, found->second);
    return std::optional(found->second->value);
  }

  absl::Status Store(const CacheKey& key, std::span<const std::uint8_t> value) override {
    if (value.size() > max_bytes_) {
      return absl::ResourceExhaustedError(
          absl::StrCat("a result of ", value.size(), " bytes is too large for the cache"));
    }
    Entry entry{.key = key, .value = {value.begin(), value.end()}};
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(key); found != places_.end()) Remove(found->second);
    bytes_ += value.size();
    entries_.push_front(std::move(entry));
    places_[key] = entries_.begin();
    while (bytes_ > max_bytes_) Remove(std::prev(entries_.end()));
    return absl::OkStatus();
  }

  [[nodiscard]] bool IsOfThisProcess() const override { return true; }

 private:
  struct Entry {
    CacheKey key;
    std::vector<std::uint8_t> value;
  };

  void Remove(std::list<Entry>::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    bytes_ -= entry->value.size();
    places_.erase(entry->key);
    entries_.erase(entry);
  }

  const std::uint64_t max_bytes_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the last used first
  std::map<CacheKey, std::list<Entry>::iterator> places_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::shared_ptr<CacheStore> CreateMemoryCache(std::uint64_t max_bytes) {
  return std::make_shared<MemoryCache>(max_bytes);
}

}  // namespace devlink
