// SPDX-License-Identifier: Apache-2.0
#include "devlink/experimental/network_cache.h"

#include <climits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/guard.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "network/breaker.h"
#include "network/curl_handle.h"
#include "network/deadline.h"
#include "network/endpoint.h"
#include "network/engine.h"

namespace devlink {

namespace {

using internal::Breaker;
using internal::CacheEngine;
using internal::Deadline;
using internal::Endpoint;

// What a fault says of the other direction, too.
bool IsOfConnection(const absl::Status& status) {
  return status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kDeadlineExceeded;
}

class NetworkCache final : public CacheStore {
 public:
  NetworkCache(std::unique_ptr<CacheEngine> engine, const std::string& shown,
               const NetworkCacheOptions& options)
      : engine_(std::move(engine)),
        name_(base::Cat({"cache '", shown, "'"})),
        max_entry_bytes_(options.max_entry_bytes),
        request_timeout_(options.request_timeout),
        finds_(options.max_faults, options.max_lost_time),
        stores_(options.max_faults, options.max_lost_time) {}

  absl::StatusOr<std::optional<std::vector<std::uint8_t>>> Find(const CacheKey& key) override {
    if (finds_.has_tripped()) {
      if (finds_.TakeNews()) return TooSlow("looked up");
      return std::nullopt;
    }
    const Deadline deadline(request_timeout_);
    auto found = engine_->Get(key);
    if (!found.ok()) return Failed(found.status(), deadline, finds_, stores_);
    finds_.Worked(deadline.Spent(), found->has_value() ? (*found)->size() : 0);
    return found;
  }

  absl::Status Store(const CacheKey& key, std::span<const std::uint8_t> value) override {
    if (value.size() > max_entry_bytes_) {
      return absl::ResourceExhaustedError(
          absl::StrCat("a result of ", value.size(), " bytes is too large for the cache"));
    }
    if (stores_.has_tripped() && stores_.TakeNews()) return TooSlow("stored");
    if (stores_.has_tripped()) return absl::CancelledError(base::ToAbsl(name_));
    const Deadline deadline(request_timeout_);
    absl::Status stored = engine_->Put(key, value);
    if (!stored.ok()) return Failed(stored, deadline, stores_, finds_);
    stores_.Worked(deadline.Spent(), value.size());
    return stored;
  }

  CacheStore* OfThisMachine() override { return nullptr; }

 private:
  [[nodiscard]] absl::Status TooSlow(std::string_view what) const {
    const std::string text =
        base::Cat({name_, ": answers too slowly; nothing more is ", what, " there"});
    return absl::DeadlineExceededError(text);
  }

  // Counts a fault, and says so where it was the last one.
  absl::Status Failed(const absl::Status& status, const Deadline& deadline, Breaker& own,
                      Breaker& other) const {
    std::string text = base::Cat({name_, ": ", base::FromAbsl(status.message())});
    // That there is no room for one result says nothing of the next.
    if (status.code() == absl::StatusCode::kResourceExhausted) return {status.code(), text};
    const bool is_end = own.Failed(deadline.Spent());
    const bool is_end_of_other = IsOfConnection(status) && other.Failed(deadline.Spent());
    if (own.has_tripped() && other.has_tripped()) {
      text += "; it is left alone from here on";
    } else if (is_end || is_end_of_other) {
      const bool finds_end = finds_.has_tripped();
      text += base::Cat({"; nothing more is ", finds_end ? "looked up" : "stored", " there"});
    }
    return {status.code(), text};
  }

  const std::unique_ptr<CacheEngine> engine_;
  const std::string name_;
  const std::uint64_t max_entry_bytes_;
  const std::chrono::milliseconds request_timeout_;
  Breaker finds_;
  Breaker stores_;
};

absl::Status CheckOptions(const NetworkCacheOptions& options, const Endpoint& endpoint) {
  for (const auto time : {options.connect_timeout, options.request_timeout}) {
    if (time.count() <= 0 || time.count() > INT_MAX) {
      return absl::InvalidArgumentError(
          "a time for the cache's server is not above 0, or too long");
    }
  }
  if (options.max_faults == 0 || options.max_lost_time.count() < 0 || options.expiry.count() < 0) {
    return absl::InvalidArgumentError("a bound on faults or time of the cache is too small");
  }
  const bool has_user = !endpoint.user.empty() || !endpoint.password.empty();
  if (!options.bearer_token.empty() &&
      (has_user || endpoint.protocol != internal::Protocol::kHttp)) {
    return absl::InvalidArgumentError(
        "a bearer token is for HTTP, where the address has no user and no password");
  }
  // It becomes a part of a header.
  for (const char c : options.bearer_token) {
    if (c <= ' ' || c > '~') {
      return absl::InvalidArgumentError("the bearer token has characters that no token has");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<CacheStore>> CreateNetworkCache(NetworkCacheOptions options) try {
  if (!internal::PrepareCurl()) return absl::FailedPreconditionError("libcurl cannot be used");
  DEVLINK_ASSIGN_OR_RETURN(const Endpoint endpoint, internal::ParseEndpoint(options.url));
  DEVLINK_RETURN_IF_ERROR(CheckOptions(options, endpoint));
  options.url.clear();  // it may have a password in it
  auto engine = endpoint.protocol == internal::Protocol::kHttp
                    ? internal::CreateHttpEngine(endpoint, options)
                    : internal::CreateRedisEngine(endpoint, options);
  return std::make_shared<NetworkCache>(std::move(engine), endpoint.shown, options);
} catch (...) {
  return base::StatusOfException();
}

}  // namespace devlink
