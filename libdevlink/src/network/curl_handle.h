// SPDX-License-Identifier: Apache-2.0
//
// A connection of libcurl, set up so that nothing but the caller's options counts.
#pragma once

#include <curl/curl.h>
#include <sys/types.h>

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "devlink/experimental/network_cache.h"
#include "network/endpoint.h"

namespace devlink::internal {

// A thread that writes to a connection whose other side has left gets SIGPIPE, which ends a process
// that does not expect it. As long as this object lives, this thread gets none. Another SIGPIPE
// that was pending before stays so.
class PipeSignalBlock {
 public:
  PipeSignalBlock();
  ~PipeSignalBlock();
  PipeSignalBlock(const PipeSignalBlock&) = delete;
  PipeSignalBlock& operator=(const PipeSignalBlock&) = delete;

 private:
  sigset_t before_ = {};
  bool is_blocked_ = false;
};

// What libcurl takes for a number.
using CurlNumber = long;  // NOLINT(google-runtime-int)

// For one thread at a time.
class CurlHandle {
 public:
  // Null where there is no memory.
  static std::unique_ptr<CurlHandle> Create(const Endpoint& endpoint,
                                            const NetworkCacheOptions& options);

  [[nodiscard]] CURL* get() const { return handle_.get(); }

  template <typename Value>
  void Set(CURLoption option, Value value) {
    // Options that this libcurl does not know are refused one by one; what must be set is set by
    // every release that the build admits.
    if (curl_easy_setopt(handle_.get(), option, value) == CURLE_OUT_OF_MEMORY) lacks_memory_ = true;
  }

  // Of a call of libcurl that failed: DeadlineExceeded for time, Unavailable otherwise.
  [[nodiscard]] absl::Status StatusOf(CURLcode code) const;

  CURLcode Perform();

 private:
  struct Free {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  };
  explicit CurlHandle(CURL* handle) : handle_(handle) {}

  std::array<char, CURL_ERROR_SIZE> error_ = {};
  bool lacks_memory_ = false;
  std::unique_ptr<CURL, Free> handle_;  // writes to the text above until it is gone
};

// Once in the life of a process, before all else. False where libcurl cannot be used.
bool PrepareCurl();

}  // namespace devlink::internal
