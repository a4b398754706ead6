// SPDX-License-Identifier: Apache-2.0
//
// GET and PUT of BASE/ac/KEY, the layout that Bazel's protocol has for results by a key of their
// inputs. Any server that keeps files serves: what it knows of an entry is its name.
#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "network/curl_handle.h"
#include "network/engine.h"
#include "network/entry_receiver.h"
#include "network/pool.h"

namespace devlink::internal {

namespace {

constexpr CurlNumber kOk = 200;
constexpr CurlNumber kFirstNotGood = 300;
constexpr CurlNumber kNotFound = 404;
constexpr CurlNumber kGone = 410;
constexpr CurlNumber kTooLarge = 413;
constexpr CurlNumber kNoRoom = 507;

CurlNumber StatusOf(CURL* handle) {
  CurlNumber status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

// What comes back. The text of a page that says why there is no entry is read, so that the
// connection can be used again, but not kept.
struct Download {
  CURL* handle = nullptr;
  EntryReceiver* receiver = nullptr;  // null where the answer has no entry in it
  std::size_t ignored = 0;
  bool lacks_memory = false;
};

std::size_t Receive(char* data, std::size_t item, std::size_t count, void* user) {
  constexpr std::size_t kMostIgnored = std::size_t{64} << 10;
  auto& download = *static_cast<Download*>(user);
  const std::size_t size = item * count;
  if (download.receiver == nullptr || StatusOf(download.handle) != kOk) {
    download.ignored += size;
    return download.ignored <= kMostIgnored ? size : 0;
  }
  try {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(data);
    return download.receiver->Append({bytes, size}) ? size : 0;
  } catch (...) {
    download.lacks_memory = true;
    return 0;
  }
}

// An entry on its way: its header and its bytes, from the beginning once more where a connection
// turned out to be gone.
struct Upload {
  EntryHeader header;
  base::Bytes value;
  std::uint64_t sent = 0;

  [[nodiscard]] std::uint64_t size() const { return sizeof(header) + value.size(); }
};

std::size_t Send(char* to, std::size_t item, std::size_t count, void* user) {
  auto& upload = *static_cast<Upload*>(user);
  std::size_t room = item * count;
  std::size_t copied = 0;
  const auto copy = [&](base::Bytes from) {
    const std::size_t size = std::min(room, from.size());
    if (size != 0) std::memcpy(to + copied, from.data(), size);
    copied += size;
    room -= size;
    upload.sent += size;
  };
  if (upload.sent < sizeof(upload.header)) {
    const auto* header = reinterpret_cast<const std::uint8_t*>(&upload.header);
    copy(base::Bytes(header, sizeof(upload.header)).subspan(upload.sent));
  }
  if (upload.sent >= sizeof(upload.header)) {
    copy(upload.value.subspan(upload.sent - sizeof(upload.header)));
  }
  return copied;
}

int Rewind(void* user, curl_off_t offset, int origin) {
  auto& upload = *static_cast<Upload*>(user);
  if (origin != SEEK_SET || offset < 0 || static_cast<std::uint64_t>(offset) > upload.size()) {
    return CURL_SEEKFUNC_FAIL;
  }
  upload.sent = static_cast<std::uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

class HttpEngine final : public CacheEngine {
 public:
  HttpEngine(Endpoint endpoint, NetworkCacheOptions options)
      : endpoint_(std::move(endpoint)),
        options_(std::move(options)),
        idle_(options_.max_idle_connections),
        // An empty value takes out what libcurl would send: with the first, it would wait a second
        // for the leave of servers that know nothing of it.
        put_headers_(curl_slist_append(nullptr, "Expect:")) {
    if (put_headers_ != nullptr) {
      curl_slist_append(put_headers_.get(), "Content-Type: application/octet-stream");
    }
  }

  absl::StatusOr<std::optional<std::vector<std::uint8_t>>> Get(const CacheKey& key) override {
    std::unique_ptr<CurlHandle> handle = Open(key);
    if (handle == nullptr) return NoMemoryForRequest();
    EntryReceiver receiver(options_.max_entry_bytes);
    Download download{.handle = handle->get(), .receiver = &receiver};
    handle->Set(CURLOPT_HTTPGET, 1L);
    handle->Set(CURLOPT_HTTPHEADER, nullptr);
    const CURLcode code = Perform(*handle, download);
    const CurlNumber status = StatusOf(handle->get());
    absl::Status failed = handle->StatusOf(code);
    if (download.lacks_memory) return NoMemoryForRequest();
    // A page that was too long to be read is as good an answer.
    const bool is_answered = code == CURLE_OK || code == CURLE_WRITE_ERROR;
    if (is_answered) idle_.GiveBack(std::move(handle));
    if (is_answered && (status == kNotFound || status == kGone)) return std::nullopt;
    if (is_answered && status != kOk) return Unexpected(status);
    if (!is_answered) return failed;
    std::vector<std::uint8_t> value;
    absl::Status whole = receiver.Finish(key, value);
    if (!whole.ok()) return whole;
    return value;
  }

  absl::Status Put(const CacheKey& key, base::Bytes value) override {
    std::unique_ptr<CurlHandle> handle = Open(key);
    if (handle == nullptr) return NoMemoryForRequest();
    Upload upload{.header = HeaderOfEntry(key, value), .value = value};
    Download download{.handle = handle->get()};
    handle->Set(CURLOPT_UPLOAD, 1L);
    handle->Set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(upload.size()));
    handle->Set(CURLOPT_READFUNCTION, &Send);
    handle->Set(CURLOPT_READDATA, &upload);
    handle->Set(CURLOPT_SEEKFUNCTION, &Rewind);
    handle->Set(CURLOPT_SEEKDATA, &upload);
    handle->Set(CURLOPT_HTTPHEADER, put_headers_.get());
    const CURLcode code = Perform(*handle, download);
    const CurlNumber status = StatusOf(handle->get());
    const bool is_answered = code == CURLE_OK || code == CURLE_WRITE_ERROR;
    // A server that refuses what is too large may close the connection before all is sent.
    if (status == kTooLarge || status == kNoRoom) {
      return NoRoomFor(value);
    }
    if (!is_answered) return handle->StatusOf(code);
    idle_.GiveBack(std::move(handle));
    return status >= kOk && status < kFirstNotGood ? absl::OkStatus() : Unexpected(status);
  }

 private:
  static absl::Status Unexpected(CurlNumber status) {
    return absl::FailedPreconditionError(absl::StrCat("answered with status ", status));
  }

  std::unique_ptr<CurlHandle> Open(const CacheKey& key) {
    std::unique_ptr<CurlHandle> handle = idle_.Take();
    if (handle == nullptr) {
      handle = CurlHandle::Create(endpoint_, options_);
      if (handle == nullptr) return nullptr;
      handle->Set(CURLOPT_TIMEOUT_MS, static_cast<CurlNumber>(options_.request_timeout.count()));
      handle->Set(CURLOPT_WRITEFUNCTION, &Receive);
      SetUser(*handle);
    }
    const std::string url = base::Cat({endpoint_.base, "/ac/", key.Hex()});
    handle->Set(CURLOPT_URL, url.c_str());
    return handle;
  }

  void SetUser(CurlHandle& handle) const {
    if (!options_.bearer_token.empty()) {
      handle.Set(CURLOPT_HTTPAUTH, static_cast<CurlNumber>(CURLAUTH_BEARER));
      handle.Set(CURLOPT_XOAUTH2_BEARER, options_.bearer_token.c_str());
    } else if (!endpoint_.user.empty() || !endpoint_.password.empty()) {
      handle.Set(CURLOPT_HTTPAUTH, static_cast<CurlNumber>(CURLAUTH_BASIC));
      handle.Set(CURLOPT_USERNAME, endpoint_.user.c_str());
      handle.Set(CURLOPT_PASSWORD, endpoint_.password.c_str());
    }
  }

  static CURLcode Perform(CurlHandle& handle, Download& download) {
    handle.Set(CURLOPT_WRITEDATA, &download);
    return handle.Perform();
  }

  const Endpoint endpoint_;
  const NetworkCacheOptions options_;
  Pool<CurlHandle> idle_;
  const std::unique_ptr<curl_slist, FreeList> put_headers_;
};

}  // namespace

std::unique_ptr<CacheEngine> CreateHttpEngine(const Endpoint& endpoint,
                                              const NetworkCacheOptions& options) {
  return std::make_unique<HttpEngine>(endpoint, options);
}

}  // namespace devlink::internal
