// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "devlink/experimental/compile_cache.h"

namespace devlink {

namespace {

class TieredCache final : public CacheStore {
 public:
  TieredCache(std::shared_ptr<CacheStore> local, std::shared_ptr<CacheStore> shared)
      : local_(std::move(local)), shared_(std::move(shared)) {}

  absl::StatusOr<std::optional<std::vector<std::uint8_t>>> Find(const CacheKey& key) override {
    auto near = local_->Find(key);
    if (near.ok() && near->has_value()) return near;
    auto far = shared_->Find(key);
    if (far.ok() && far->has_value()) {
      // A cache may lose what it is given; the next link asks the other one again.
      local_->Store(key, **far).IgnoreError();
      return far;
    }
    return far.ok() ? std::move(near) : std::move(far);
  }

  absl::Status Store(const CacheKey& key, std::span<const std::uint8_t> value) override {
    absl::Status near = local_->Store(key, value);
    absl::Status far = shared_->Store(key, value);
    return near.ok() && !absl::IsCancelled(far) ? std::move(far) : std::move(near);
  }

  CacheStore* OfThisMachine() override { return local_->OfThisMachine(); }

 private:
  const std::shared_ptr<CacheStore> local_;
  const std::shared_ptr<CacheStore> shared_;
};

}  // namespace

std::shared_ptr<CacheStore> CreateTieredCache(std::shared_ptr<CacheStore> local,
                                              std::shared_ptr<CacheStore> shared) {
  return std::make_shared<TieredCache>(std::move(local), std::move(shared));
}

}  // namespace devlink
