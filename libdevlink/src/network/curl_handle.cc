// SPDX-License-Identifier: Apache-2.0
#include "network/curl_handle.h"

#include <pthread.h>
#include <sys/socket.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "base/strings.h"
#include "base/visible_text.h"
#include "devlink/version.h"

namespace devlink::internal {

namespace {

sigset_t PipeSignal() {
  sigset_t out;
  sigemptyset(&out);
  sigaddset(&out, SIGPIPE);
  return out;
}

bool IsPipeSignalPending() {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

// Without the flag a compiler that another thread starts at that moment would inherit it.
curl_socket_t OpenSocket(void* /*user*/, curlsocktype /*purpose*/, curl_sockaddr* address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

}  // namespace

PipeSignalBlock::PipeSignalBlock() {
  if (IsPipeSignalPending()) return;
  const sigset_t pipe = PipeSignal();
  is_blocked_ = pthread_sigmask(SIG_BLOCK, &pipe, &before_) == 0;
}

PipeSignalBlock::~PipeSignalBlock() {
  if (!is_blocked_) return;
  const sigset_t pipe = PipeSignal();
  const timespec at_once = {};
  while (IsPipeSignalPending()) {
    if (sigtimedwait(&pipe, nullptr, &at_once) < 0 && errno != EINTR) break;
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool PrepareCurl() {
  static const bool is_ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return is_ready;
}

std::unique_ptr<CurlHandle> CurlHandle::Create(const Endpoint& endpoint,
                                               const NetworkCacheOptions& options) {
  CURL* handle = curl_easy_init();
  if (handle == nullptr) return nullptr;
  std::unique_ptr<CurlHandle> out(new CurlHandle(handle));
  out->Set(CURLOPT_ERRORBUFFER, out->error_.data());
  out->Set(CURLOPT_NOSIGNAL, 1L);
  out->Set(CURLOPT_USERAGENT, base::Cat({"devlink/", Version()}).c_str());
  out->Set(CURLOPT_URL, endpoint.base.c_str());
  out->Set(CURLOPT_OPENSOCKETFUNCTION, &OpenSocket);
  out->Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<CurlNumber>(options.connect_timeout.count()));
  // No proxy, whatever the environment says; no user from .netrc; nothing but what was asked for.
  out->Set(CURLOPT_PROXY, "");
  out->Set(CURLOPT_NETRC, static_cast<CurlNumber>(CURL_NETRC_IGNORED));
  out->Set(CURLOPT_FOLLOWLOCATION, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
  out->Set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
  out->Set(CURLOPT_PROTOCOLS, static_cast<CurlNumber>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
  // A name server that does not answer is not waited for at the end either.
  out->Set(CURLOPT_QUICK_EXIT, 1L);
#endif
  out->Set(CURLOPT_SSL_VERIFYPEER, 1L);
  out->Set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!options.certificate_file.empty()) {
    out->Set(CURLOPT_CAINFO, options.certificate_file.c_str());
  }
  return out->lacks_memory_ ? nullptr : std::move(out);
}

CURLcode CurlHandle::Perform() {
  error_[0] = '\0';
  const PipeSignalBlock block;
  return lacks_memory_ ? CURLE_OUT_OF_MEMORY : curl_easy_perform(get());
}

absl::Status CurlHandle::StatusOf(CURLcode code) const {
  const std::string_view said = error_.data();
  const std::string text =
      base::VisibleText(said.empty() ? std::string_view(curl_easy_strerror(code)) : said);
  return code == CURLE_OPERATION_TIMEDOUT ? absl::DeadlineExceededError(text)
                                          : absl::UnavailableError(text);
}

}  // namespace devlink::internal
